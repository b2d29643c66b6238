/**
 * Folds a text for comparison: strings that differ only in case, in any script, become equal. The final sigma is folded to
 * sigma, because it depends only on the position in the word.
 */
export const foldCase = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')
