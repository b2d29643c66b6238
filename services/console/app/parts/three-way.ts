export type Choice = 'mine' | 'theirs'

/** A field whose values differ between the form, the stored record, and the record that the form began with. */
export interface Difference<Key> {
  field: Key
  /** Which value loses no change; undefined if both sides have changed the field, so that a person must choose. */
  suggestion: Choice | undefined
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)

/** The fields of a form to decide on after another person's change. Fields with the same value on both sides are none. */
export const compare = <Draft extends object>(
  base: Draft,
  mine: Draft,
  theirs: Draft,
): Difference<keyof Draft>[] =>
  (Object.keys(mine) as (keyof Draft)[])
    .filter(field => !same(mine[field], theirs[field]))
    .map(field => {
      if (same(mine[field], base[field])) return { field, suggestion: 'theirs' }
      return { field, suggestion: same(theirs[field], base[field]) ? 'mine' : undefined }
    })

/** The values of the form with those of the stored record in the fields for which they were chosen. */
export function merge<Draft extends object>(
  mine: Draft,
  theirs: Draft,
  choices: Partial<Record<keyof Draft, Choice>>,
): Draft {
  const merged = { ...mine }
  for (const field of Object.keys(mine) as (keyof Draft)[])
    if (choices[field] === 'theirs') merged[field] = theirs[field]
  return merged
}

/** The fields of a form with the entity tag of the record that they are of. */
export interface Stored<Draft> {
  draft: Draft
  etag: string
}

interface Saving<Draft> {
  base: Stored<Draft>
  mine: Draft
  /** Sends the fields with an If-Match header. @returns the record as it is stored then */
  put: (draft: Draft, etag: string) => Promise<Stored<Draft>>
  read: () => Promise<Stored<Draft>>
  isStale: (error: unknown) => boolean
}

type Outcome<Draft> =
  | { saved: Stored<Draft>; theirs?: undefined }
  /** The stored record, whose fields have changed since `base`. */
  | { saved?: undefined; theirs: Stored<Draft> }

/**
 * Saves a form. A stored record that has changed in its other parts only, e.g. by a deployment, is no conflict: the form is
 * sent again with the new entity tag.
 */
export async function save<Draft extends object>(saving: Saving<Draft>): Promise<Outcome<Draft>> {
  const { base, mine, put, read, isStale } = saving
  try {
    return { saved: await put(mine, base.etag) }
  } catch (error) {
    if (!isStale(error)) throw error
    const theirs = await read()
    if (!same(base.draft, theirs.draft) || theirs.etag === base.etag) return { theirs }
    return save({ ...saving, base: theirs })
  }
}
