import { type ChangeObject, diffArrays } from 'diff'
import { readable, type Shown } from './json-lines.ts'

export interface Line {
  /** From 1. */
  number: number
  text: string
}

/** Lines of two documents that belong together: equal ones, or one replaced by the other. A line without a partner is new or gone. */
export interface Pair {
  before?: Line
  after?: Line
  same: boolean
}

/** Differences between two lines that occur once, beyond which the lines between them are paired by their order. */
const MAX_EDITS = 2_000

/**
 * Pairs the lines of two documents, in their order. Lines that occur once in both are found first, so that documents with
 * hundreds of thousands of lines and many differences are paired in time.
 */
export function pairLines(before: string, after: string): Pair[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  const pairs: Pair[] = []
  const at = { before: 0, after: 0 }
  const pair = (removed: readonly string[], added: readonly string[]) => {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      const [one, other] = [removed[index], added[index]]
      pairs.push({
        ...(one !== undefined && { before: { number: ++at.before, text: one } }),
        ...(other !== undefined && { after: { number: ++at.after, text: other } }),
        same: one === other,
      })
    }
  }
  for (const [oldEnd, nowEnd] of [...anchorsOf(old, now), [old.length, now.length] as const]) {
    const [removed, added] = [old.slice(at.before, oldEnd), now.slice(at.after, nowEnd)]
    const parts = diffArrays(removed, added, { maxEditLength: MAX_EDITS })
    if (parts) pairParts(parts, pair)
    else pair(removed, added)
  }
  return pairs
}

/** Pairs equal lines with each other, and those that are removed with those that are added in their place. */
function pairParts(
  parts: readonly ChangeObject<string[]>[],
  pair: (removed: readonly string[], added: readonly string[]) => void,
): void {
  let [removed, added]: [readonly string[], readonly string[]] = [[], []]
  for (const part of [...parts, undefined]) {
    if (part?.removed) removed = part.value
    else if (part?.added) added = part.value
    else {
      pair(removed, added)
      removed = added = []
      if (part) pair(part.value, part.value)
    }
  }
}

/** The indices of lines that occur once in both, as many as have the same order in both. */
function anchorsOf(old: readonly string[], now: readonly string[]): (readonly [old: number, now: number])[] {
  const [oldAt, nowAt] = [onceIn(old), onceIn(now)]
  /** The last anchors of the longest sequences of each length so far, by their places in the other document. */
  const ends: { at: readonly [number, number]; last: (typeof ends)[number] | undefined }[] = []
  for (const [line, index] of oldAt) {
    const other = nowAt.get(line)
    if (index < 0 || other === undefined || other < 0) continue
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle]?.at[1] ?? 0) < other) low = middle + 1
      else high = middle
    }
    ends[low] = { at: [index, other], last: ends[low - 1] }
  }
  const anchors: (readonly [number, number])[] = []
  for (let end = ends.at(-1); end; end = end.last) anchors.push(end.at)
  return anchors.reverse()
}

/** The index of each line; -1 for lines that occur more than once. */
function onceIn(lines: readonly string[]): Map<string, number> {
  const found = new Map<string, number>()
  for (const [index, line] of lines.entries()) found.set(line, found.has(line) ? -1 : index)
  return found
}

const linesOf = (text: string) => text.split(/\r\n|\r|\n/)

/** A pair, equal pairs that are not shown, or something that is said about the pair above. */
export type Row<Note> = { pair: Pair } | { folded: readonly Pair[] } | { note: Note }

/** Equal lines that are shown around others. */
const CONTEXT = 3

/**
 * Folds the equal pairs that are far from the others.
 * @param notes by the index of the pair that each is about
 * @param open indices of the first pairs of folded ones that are shown nevertheless
 */
export function foldPairs<Note>(
  pairs: readonly Pair[],
  notes: ReadonlyMap<number, readonly Note[]>,
  open: ReadonlySet<number>,
): Row<Note>[] {
  const isNear = new Uint8Array(pairs.length)
  for (const [index, { same }] of pairs.entries())
    if (!same || notes.has(index)) isNear.fill(1, Math.max(0, index - CONTEXT), index + CONTEXT + 1)
  const rows: Row<Note>[] = []
  for (let index = 0; index < pairs.length; ) {
    const next = isNear.indexOf(1, index)
    const end = next < 0 ? pairs.length : next
    const hidden = pairs.slice(index, end)
    // A fold takes a line itself.
    if (hidden.length > 1 && !open.has(index)) rows.push({ folded: hidden })
    else for (const pair of hidden) rows.push({ pair })
    const near = isNear.indexOf(0, end)
    const stop = near < 0 ? pairs.length : near
    for (let at = end; at < stop; at++) {
      rows.push({ pair: pairs[at] as Pair })
      for (const note of notes.get(at) ?? []) rows.push({ note })
    }
    index = stop
  }
  return rows
}

interface Placed {
  pointer: string
  line: number | null
  fromLine: number | null
}

/** The pairs of lines, and by the index of a pair the changes that are about it. */
export function compared<Change extends Placed>(before: string, after: string, changes: readonly Change[]) {
  const [old, now] = readable([before, after])
  if (!old || !now) throw new Error('two texts were given')
  const pairs = pairLines(old.text, now.text)
  const [byOld, byNow] = [new Map<number, number>(), new Map<number, number>()]
  for (const [index, { before, after }] of pairs.entries()) {
    if (before) byOld.set(before.number, index)
    if (after) byNow.set(after.number, index)
  }
  /** The outermost differing pair around a value: the lines of what was removed may occur elsewhere. Else that of the value. */
  const pairIn = (
    { lineOf }: Shown,
    by: ReadonlyMap<number, number>,
    pointer: string,
    line: number | null,
  ) => {
    const tokens = pointer.split('/')
    const around = tokens.map((_, last) => by.get(lineOf(tokens.slice(0, last + 1).join('/'), line) ?? 0))
    return around.find(index => index !== undefined && !pairs[index]?.same) ?? around.at(-1)
  }
  const pairOf = ({ pointer, line, fromLine }: Change): number | undefined => {
    const was = pairIn(old, byOld, pointer, fromLine)
    const is = pairIn(now, byNow, pointer, line)
    // What was removed is in the earlier document alone.
    return was !== undefined && (is === undefined || (pairs[is]?.same && !pairs[was]?.same)) ? was : is
  }
  const notes = Map.groupBy(changes, change => pairOf(change) ?? -1)
  notes.delete(-1)
  return { pairs, notes }
}
