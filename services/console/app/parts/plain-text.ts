/** Places in a text, as start and end. */
export type Ranges = readonly (readonly number[])[]

/** The marks of Markdown and HTML: their removal leaves the words. The address of a link goes with its brackets. */
const MARKS = new RegExp(
  [
    /!?\[(?=[^\]\n]*\]\()/, // [text](address)
    /\]\([^)\s]*(?:\s+"[^"]*")?\)/,
    /<\/?[a-z][^>\n]*>/,
    /<[a-z]+\s[a-z-]+=[^>]*(?![\s\S])/, // a tag that the end of a shortened text has cut
    /^[ \t]*(?:(?:#{1,6}|[-*+])[ \t]+|#{1,6}(?=\p{L})|>+[ \t]*)/u, // headings, quotes and lists, also without a space
    /\*\*|~~|`+/,
    /(?<!\w)__?(?=\S)|(?<=\S)__?(?!\w)/,
    /(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gimu',
)

/** A text without the marks of Markdown, with the places in it that `ranges` names in the original. */
export function plainText(text: string, ranges: Ranges = []): { text: string; ranges: number[][] } {
  const marks = [...text.matchAll(MARKS)].map(({ index, 0: mark }) => ({ start: index, length: mark.length }))
  const moved = (place: number) =>
    marks.reduce((at, { start, length }) => at - Math.min(length, Math.max(0, place - start)), place)
  return {
    text: text.replaceAll(MARKS, ''),
    ranges: ranges.map(range => range.map(moved)).filter(([start = 0, end = 0]) => end > start),
  }
}
