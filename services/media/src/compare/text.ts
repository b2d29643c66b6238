import { decode } from '../check/text.ts'
import type { Changes } from './changes.ts'

/** Tells which lines differ: what that means for clients is not known. */
export function compareText(before: Uint8Array, after: Uint8Array, changes: Changes) {
  if (Buffer.compare(before, after) === 0) return
  const [was, is] = [decode(before), decode(after)]
  if (!was || !is) return changes.add('UNCLEAR', '', 'the content changed')
  const [old, now] = [was.text.split('\n'), is.text.split('\n')]
  const shorter = Math.min(old.length, now.length)
  let start = 0
  while (start < shorter && old[start] === now[start]) start++
  let end = 0
  while (end < shorter - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const lines = (all: readonly string[]) => {
    const last = all.length - end
    if (last === start) return `nothing after line ${start}`
    return last === start + 1 ? `line ${last}` : `the lines ${start + 1} to ${last}`
  }
  changes.add('UNCLEAR', `line ${start + 1}`, `the text changed: ${lines(old)} before, now ${lines(now)}`)
}
