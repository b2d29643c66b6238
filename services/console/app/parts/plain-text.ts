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
    /&(?:[a-z]{2,6}|#\d{1,7}|#x[\da-f]{1,6});/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gimu',
)

/** The characters that HTML names in texts most often. */
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  copy: '©',
  gt: '>',
  hellip: '…',
  ldquo: '“',
  lsquo: '‘',
  lt: '<',
  mdash: '—',
  nbsp: ' ',
  ndash: '–',
  quot: '"',
  rdquo: '”',
  rsquo: '’',
}

/** What is shown instead of a mark. */
function insteadOf(mark: string): string {
  if (!mark.startsWith('&')) return ''
  const name = mark.slice(1, -1).toLowerCase()
  if (!name.startsWith('#')) return NAMED[name] ?? mark
  const code = Number(name.replace('#x', '0x').replace('#', ''))
  return code <= 0x10ffff ? String.fromCodePoint(code).replace('\u00a0', ' ') : mark
}

/** A text without the marks of Markdown and HTML, with the places in it that `ranges` names in the original. */
export function plainText(text: string, ranges: Ranges = []): { text: string; ranges: number[][] } {
  const marks = [...text.matchAll(MARKS)].map(({ index, 0: mark }) => ({
    start: index,
    shorter: mark.length - insteadOf(mark).length,
  }))
  const moved = (place: number) =>
    marks.reduce((at, { start, shorter }) => at - Math.min(shorter, Math.max(0, place - start)), place)
  return {
    text: text.replaceAll(MARKS, insteadOf),
    ranges: ranges.map(range => range.map(moved)).filter(([start = 0, end = 0]) => end > start),
  }
}
