type Fields = Readonly<Record<string, unknown>>

/** A field that a change has added, replaced or removed. `undefined` is the absence of the field. */
export interface Difference {
  /** Names of the fields that lead to it, e.g. `api.name`. */
  path: string
  before: unknown
  after: unknown
}

/** The fields that differ. Fields of nested objects are compared one by one, arrays as a whole. */
export function differences(before: Fields | null, after: Fields | null): Difference[] {
  const former = leaves(before ?? {})
  const present = leaves(after ?? {})
  return [...new Set([...former.keys(), ...present.keys()])]
    .map(path => ({ path, before: former.get(path), after: present.get(path) }))
    .filter(each => JSON.stringify(each.before) !== JSON.stringify(each.after))
}

function leaves(fields: Fields, prefix = '', found = new Map<string, unknown>()): Map<string, unknown> {
  for (const [name, value] of Object.entries(fields)) {
    const path = prefix + name
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      leaves(value as Fields, `${path}.`, found)
    else found.set(path, value)
  }
  return found
}
