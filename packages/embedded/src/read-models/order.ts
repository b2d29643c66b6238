import type { Sort } from '@gantry/read-models'
import type { Bits } from './bits.ts'
import type { Field, Value } from './field.ts'

export type CompareSlots = (a: number, b: number) => number

/** Order of values: null, numbers, strings by code unit, booleans. */
export function compareValues(a: Value, b: Value): number {
  if (a === b) return 0
  const kind = kindOf(a) - kindOf(b)
  if (kind !== 0) return kind
  return (a as string) < (b as string) ? -1 : 1
}

/** Rank of the type of a value in the order of all values. */
export const kindOf = (value: Value) =>
  value === null ? 0 : typeof value === 'number' ? 1 : typeof value === 'string' ? 2 : 3

/** Compares slots by the fields of the sort, then by id. */
export function comparison(
  sort: readonly Sort[],
  field: (name: string) => Field,
  ids: readonly string[],
): CompareSlots {
  const keys = sort.map(({ field: name, direction }) => ({
    values: field(name).values,
    sign: direction === 'desc' ? -1 : 1,
  }))
  return (a, b) => {
    for (const { values, sign } of keys) {
      const difference = compareValues(values[a] as Value, values[b] as Value)
      if (difference !== 0) return difference * sign
    }
    return compareValues(ids[a] as string, ids[b] as string)
  }
}

/**
 * The slots in one order. Slots of replaced and removed documents stay in it, so that they need not be searched and taken
 * out: callers have the set of valid slots.
 */
export class Order {
  #compare: CompareSlots
  #sorted = new Int32Array(0)
  #size = 0
  /** All valid slots below this one have been added. */
  #covered = 0

  constructor(compare: CompareSlots) {
    this.#compare = compare
  }

  /** Adds the new slots below `slots` that are valid now. */
  cover(slots: number, alive: Bits) {
    const added: number[] = []
    for (; this.#covered < slots; this.#covered++) if (alive.has(this.#covered)) added.push(this.#covered)
    if (added.length > 0) this.#insert(added.sort(this.#compare))
  }

  /** Inserts from the end, so that each slot is moved at most once. */
  #insert(added: number[]) {
    this.#reserve(this.#size + added.length)
    const sorted = this.#sorted
    let end = this.#size
    for (let before = added.length - 1; before >= 0; before--) {
      const slot = added[before] as number
      const index = this.#firstWhere(other => this.#compare(other, slot) > 0, end)
      sorted.copyWithin(index + before + 1, index, end)
      sorted[index + before] = slot
      end = index
    }
    this.#size += added.length
  }

  #reserve(size: number) {
    if (size <= this.#sorted.length) return
    const larger = new Int32Array(Math.max(size, Math.ceil(this.#size * 1.25)))
    larger.set(this.#sorted.subarray(0, this.#size))
    this.#sorted = larger
  }

  /** The first index whose slot satisfies the condition. All slots after it must satisfy it too. */
  #firstWhere(condition: (slot: number) => boolean, end = this.#size): number {
    let low = 0
    let high = end
    while (low < high) {
      const middle = (low + high) >>> 1
      if (condition(this.#sorted[middle] as number)) high = middle
      else low = middle + 1
    }
    return low
  }

  /** The slots between the first that satisfies `from` and the first that satisfies `to`. */
  between(from: (slot: number) => boolean, to: (slot: number) => boolean): Int32Array {
    return this.#sorted.subarray(this.#firstWhere(from), this.#firstWhere(to))
  }

  /** The slots of a page of the selection. */
  page(selected: Bits, skip: number, limit: number): number[] {
    const sorted = this.#sorted
    const page: number[] = []
    for (let index = 0, found = 0; index < this.#size; index++) {
      const slot = sorted[index] as number
      if (!selected.has(slot) || found++ < skip) continue
      page.push(slot)
      if (page.length === limit) break
    }
    return page
  }
}
