/** A member of a JSON Pointer (RFC 6901 §3). */
export const escaped = (token: string) => token.replaceAll('~', '~0').replaceAll('/', '~1')
export const unescaped = (token: string) => token.replaceAll('~1', '/').replaceAll('~0', '~')

/** Pointers as a tree: the subtree of each next token, and the pointers that end here. */
export type Wanted = Map<string, Wanted> & { pointers?: string[] }

export function wantedOf(pointers: readonly string[]): Wanted {
  const root: Wanted = new Map()
  for (const pointer of pointers) {
    let at = root
    for (const token of pointer.split('/').slice(1).map(unescaped)) {
      const next: Wanted = at.get(token) ?? new Map()
      at.set(token, next)
      at = next
    }
    at.pointers = [...(at.pointers ?? []), pointer]
  }
  return root
}

/** Gives an offset to a value and to all that is in it, until those values are found. */
export function placeAll(offsets: Map<string, number>, wanted: Wanted, offset: number): void {
  for (const pointer of wanted.pointers ?? []) offsets.set(pointer, offset)
  for (const inner of wanted.values()) placeAll(offsets, inner, offset)
}
