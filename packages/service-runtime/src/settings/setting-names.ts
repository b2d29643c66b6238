/** Unrelated variables that resemble a setting. Mesos Marathon sets PORTS for every task. */
const FOREIGN = new Set(['PORTS'])

/**
 * Finds variables that are not settings and differ from one by one letter changed, added or left out, or by two adjacent
 * letters swapped. Digits do not count as letters, because Mesos Marathon sets PORT0 and PORT1.
 * @param settings names of the settings of the process; no setting of another process differs from one by one letter
 * @returns a line per variable, with the similar settings
 */
export function misspelledSettings(environment: NodeJS.ProcessEnv, settings: readonly string[]): string[] {
  const known = new Set(settings.flatMap(name => [name, `${name}_FILE`]))
  return Object.keys(environment)
    .filter(name => !known.has(name) && !FOREIGN.has(name))
    .flatMap(name => {
      const meant = [...known].filter(known => isOneLetterApart(name, known))
      return meant.length > 0 ? [`${name}: is not a setting; did you mean ${meant.join(' or ')}?`] : []
    })
}

/** Compares two different texts. */
function isOneLetterApart(one: string, other: string): boolean {
  const shorter = Math.min(one.length, other.length)
  let start = 0
  while (start < shorter && one[start] === other[start]) start++
  let end = 0
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++
  const [left, right] = [one, other].map(text => text.slice(start, text.length - end)) as [string, string]
  const swapped = left.length === 2 && left === [...right].toReversed().join('')
  return swapped || (/^\D?$/.test(left) && /^\D?$/.test(right))
}
