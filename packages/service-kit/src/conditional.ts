import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/**
 * Strong entity tag of a record (RFC 9110 §8.8.3): its revision, and a hash of `variant`, i.e. of the text that other
 * services contribute to the representation. So the tag changes with every byte of the representation.
 */
export const etag = (revision: number, variant?: string | null): string =>
  variant ? `"${revision}-${hashOf(variant)}"` : `"${revision}"`

const hashes = new LRUCache<string, string>({ max: 1_000 })

function hashOf(variant: string): string {
  let hashed = hashes.get(variant)
  if (hashed === undefined) {
    hashed = hash('sha256', variant, 'base64url').slice(0, 8)
    hashes.set(variant, hashed)
  }
  return hashed
}

const tagsOf = (header: string) => header.match(/(?:W\/)?"[^"]*"/g) ?? []

/**
 * Revisions that If-Match names; undefined when it is absent or `*`. Weak tags, and tags that `etag` cannot have made,
 * match nothing (RFC 9110 §13.1.1).
 */
export function revisionsOf(ifMatch: string | undefined): number[] | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined
  return tagsOf(ifMatch).flatMap(tag => {
    const revision = /^"(\d{1,15})(?:-[\w-]*)?"$/.exec(tag)?.[1]
    return revision === undefined ? [] : [Number(revision)]
  })
}

/** Whether If-None-Match names the tag, by weak comparison (RFC 9110 §13.1.2). */
export function matchesNone(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.trim() === '*' || tagsOf(ifNoneMatch).some(known => known.replace(/^W\//, '') === tag)
}
