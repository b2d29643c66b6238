import { subjectMatches } from '@gantry/messaging'

/**
 * The filters of a JetStream consumer for subjects that can overlap. Servers refuse overlapping filters, more than one
 * filter before 2.10, and filters that reach beyond the subjects of the stream. When the subjects cannot be filtered
 * exactly, the filters match more, and the reader must filter again.
 * @returns no filters when all messages have to be delivered
 */
export function filtersFor(
  subjects: readonly string[],
  { stored, several }: { stored: readonly string[]; several: boolean },
): string[] {
  const distinct = [...new Set(subjects)]
  const widest = distinct.filter(
    subject => !distinct.some(other => other !== subject && covers(other, subject)),
  )
  const overlapping = widest.some((one, index) => widest.slice(index + 1).some(other => overlap(one, other)))
  const filters = widest.length === 1 || (several && !overlapping) ? widest : [covering(widest)]
  const inside = (filter: string) => stored.some(subject => covers(subject, filter))
  return filters.every(inside) ? filters : []
}

/** Whether every subject that matches `narrow` matches `wide`. */
const covers = (wide: string, narrow: string) =>
  subjectMatches(wide, narrow) && (wide.endsWith('>') || !narrow.endsWith('>'))

/** Whether some subject matches both. */
function overlap(one: string, other: string): boolean {
  const [a, b] = [one.split('.'), other.split('.')]
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    if (a[i] === '>' || b[i] === '>') return true
    if (a[i] !== b[i] && a[i] !== '*' && b[i] !== '*') return false
  }
  return a.length === b.length
}

/** The narrowest `parts.>` that covers all of them. */
function covering(subjects: readonly string[]): string {
  const split = subjects.map(subject => subject.split('.'))
  const shortest = Math.min(...split.map(({ length }) => length))
  const common: string[] = []
  for (let i = 0; i < shortest - 1; i++) {
    const part = split[0]?.[i]
    if (part === undefined || part === '*' || split.some(parts => parts[i] !== part)) break
    common.push(part)
  }
  return [...common, '>'].join('.')
}
