import { plainText, type Ranges } from './plain-text.ts'

interface MarkedProps {
  text: string
  /** What a search has found in the text, in ascending order. */
  ranges: Ranges | undefined
}

/** Text in which the matches of a search are marked. */
export function Marked({ text, ranges = [] }: MarkedProps) {
  let from = 0
  const parts = ranges.map(([start = 0, end = 0]) => {
    const before = text.slice(from, start)
    from = end
    return (
      <span key={start}>
        {before}
        <mark>{text.slice(start, end)}</mark>
      </span>
    )
  })
  return (
    <>
      {parts}
      {text.slice(from)}
    </>
  )
}

/** Characters before the first match. */
const LEAD = 40

/** A description as plain text from shortly before its first match, so that the match is visible when the end is cut off. */
export function Excerpt(props: MarkedProps) {
  const { text, ranges } = plainText(props.text, props.ranges)
  const start = (ranges[0]?.[0] ?? 0) - LEAD
  if (start <= 0) return <Marked text={text} ranges={ranges} />
  const from = text.indexOf(' ', start) + 1
  const moved = ranges.map(([start = 0, end = 0]) => [start - from, end - from])
  return (
    <>
      {'… '}
      <Marked text={text.slice(from)} ranges={moved} />
    </>
  )
}
