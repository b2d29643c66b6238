import { Mark } from '@mantine/core'

interface MarkedProps {
  text: string
  terms: readonly string[]
}

/** Text in which the search terms are marked. */
export function Marked({ text, terms }: MarkedProps) {
  if (terms.length === 0) return text
  const pattern = new RegExp(`(${terms.map(escaped).join('|')})`, 'giu')
  return text.split(pattern).map((part, index) =>
    // Every second part is a match.
    index % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity but their place
      <Mark key={index}>{part}</Mark>
    ) : (
      part
    ),
  )
}

const escaped = (term: string) => term.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&')

/** Characters before the first match. */
const LEAD = 40

/** A long text from shortly before its first match, so that the match is visible when the end is cut off. */
export function excerpt(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase()
  const found = terms.map(term => lower.indexOf(term.toLowerCase())).filter(index => index >= 0)
  const start = Math.min(...found) - LEAD
  if (found.length === 0 || start <= 0) return text
  return `… ${text.slice(text.indexOf(' ', start) + 1)}`
}
