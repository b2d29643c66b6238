/**
 * The form in which texts and search terms are compared: equal for strings that differ in case only, in any script.
 * The final sigma, which is a matter of place in the word, counts as a sigma.
 */
export const foldCase = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ')
