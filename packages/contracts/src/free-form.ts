import { z } from 'zod'

/** Maximum levels of objects and arrays in a free-form value, including the value itself. */
export const MAX_DEPTH = 64
const MAX_MEMBERS = 10_000
/** Several times the 64 KiB that intermediaries of CloudEvents must support; a delivery still fits into one append. */
const MAX_BYTES = 262_144

/**
 * Visits a parsed JSON value level by level without recursion, which would overflow the stack for a deep value.
 * @returns the objects and arrays of each level, from the value itself
 */
function* levels(value: unknown): Generator<object[]> {
  const containers = (parts: unknown[]) => parts.filter(part => typeof part === 'object' && part !== null)
  for (let level = containers([value]); level.length > 0; ) {
    yield level as object[]
    level = containers(level.flatMap(part => Object.values(part as object)))
  }
}

/** Whether a parsed JSON value has more than `maxDepth` levels of objects and arrays, including the value itself. */
export function isDeeperThan(value: unknown, maxDepth: number): boolean {
  let depth = 0
  for (const _ of levels(value)) if (++depth > maxDepth) return true
  return false
}

/** Number of members of objects and elements of arrays, at all levels. */
function membersOf(value: unknown): number {
  let members = 0
  for (const level of levels(value)) for (const container of level) members += Object.keys(container).length
  return members
}

function faultOf(value: unknown): string | undefined {
  if (isDeeperThan(value, MAX_DEPTH)) return `must be at most ${MAX_DEPTH} levels deep`
  if (membersOf(value) > MAX_MEMBERS) return `must have at most ${MAX_MEMBERS} members at all levels`
  const bytes = new TextEncoder().encode(JSON.stringify(value)).byteLength
  return bytes > MAX_BYTES ? `must have at most ${MAX_BYTES} bytes as JSON` : undefined
}

/** A JSON object with any members, within limits that every reader can handle. */
export const FreeForm = z
  .record(z.string(), z.unknown())
  .superRefine((value, context) => {
    const message = faultOf(value)
    if (message) context.addIssue({ code: 'custom', message })
  })
  .meta({
    description: `At most ${MAX_DEPTH} levels deep, ${MAX_MEMBERS} members at all levels, and ${MAX_BYTES} bytes as JSON`,
  })
