import type {
  CollectionDefinition,
  Condition,
  Document,
  Filter,
  Query,
  Scalar,
  Sort,
  ValueCount,
} from '@gantry/stores'
import { LRUCache } from 'lru-cache'
import { Bits, type SlotSet } from './bits.ts'
import type { DocumentTable, Row } from './document-table.ts'
import { Field, reader, type Value } from './field.ts'
import { TextIndex } from './text-index.ts'

export type CompareSlots = (a: number, b: number) => number

/** Order of values: null, numbers, strings by code unit, booleans. */
function compareValues(a: Value, b: Value): number {
  if (a === b) return 0
  const kind = kindOf(a) - kindOf(b)
  if (kind !== 0) return kind
  return (a as string) < (b as string) ? -1 : 1
}

/** Rank of the type of a value in the order of all values. */
const kindOf = (value: Value) =>
  value === null ? 0 : typeof value === 'number' ? 1 : typeof value === 'string' ? 2 : 3

/** Compares slots by the fields of the sort, then by id. */
function comparison(
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

type Range = Extract<Condition, { gt?: string | number }>

const NOTHING = new Bits(0)

/**
 * Removes from a selection the slots whose field does not satisfy the condition.
 * @param order returns the slots in ascending order of the field; called for ranges only
 */
function restrict(selected: Bits, condition: Condition, field: Field, order: () => Order) {
  if (condition === null || typeof condition !== 'object') keep(selected, field.slotsWith(condition))
  else if ('in' in condition) selected.keepAll(slotsWithAny(field, condition.in))
  else if ('all' in condition) for (const item of condition.all) keep(selected, field.slotsWith(item))
  else if ('not' in condition) selected.deleteAll(field.slotsWith(condition.not)?.toBits() ?? NOTHING)
  else selected.keepAll(slotsInRange(field, condition, order()))
}

const keep = (selected: Bits, slots: SlotSet | undefined) => selected.keepAll(slots?.toBits() ?? NOTHING)

function slotsWithAny(field: Field, values: readonly Scalar[]): Bits {
  const slots = new Bits(field.values.length)
  for (const value of values) field.slotsWith(value)?.addTo(slots)
  return slots
}

/** Values of another type than a bound, null included, are out of range. */
function slotsInRange({ values }: Field, { gt, gte, lt, lte }: Range, order: Order): Bits {
  const bounds = [gt, gte, lt, lte].filter(bound => bound !== undefined)
  const begins = (slot: number) => {
    const value = values[slot] ?? null
    return (
      bounds.every(bound => kindOf(value) >= kindOf(bound)) &&
      (gt === undefined || compareValues(value, gt) > 0) &&
      (gte === undefined || compareValues(value, gte) >= 0)
    )
  }
  const ends = (slot: number) => {
    const value = values[slot] ?? null
    return (
      bounds.some(bound => kindOf(value) > kindOf(bound)) ||
      (lt !== undefined && compareValues(value, lt) >= 0) ||
      (lte !== undefined && compareValues(value, lte) > 0)
    )
  }
  const slots = new Bits(values.length)
  for (const slot of order.between(begins, ends)) slots.add(slot)
  return slots
}

/** Changes applied at a time: a few milliseconds of work, so that loading does not block the event loop. */
const SLICE = 250
/** Maximum number of cached orders, at 4 bytes per slot each. */
const ORDERS = 16
/** Estimated cost of comparing two slots, in steps of a walk along an order. */
const STEPS_PER_COMPARISON = 20

export interface IndexedFields extends Pick<CollectionDefinition<Document>, 'fields'> {
  text?: readonly string[]
}

/**
 * Answers filters and sorts over the documents of one collection, in memory. It applies the changes in the file, whichever
 * process made them. It stores nothing in the file, so it can be rebuilt at any time.
 *
 * Each document has a slot, a small integer. A document that changes gets the next free slot and its old one is no longer
 * valid. Slots are thus only added: structures by slot are updated by adding the new slots, and one set has the valid ones.
 */
export class CollectionIndex {
  readonly #table: DocumentTable
  readonly #fields: ReadonlyMap<string, Field>
  readonly #readers: ReadonlyArray<(document: object) => void>
  readonly #textFields: readonly string[]
  readonly #text: TextIndex | undefined
  readonly #orders = new LRUCache<string, Order>({ max: ORDERS })
  /** Document ids, by slot. */
  readonly #ids: string[] = []
  /** Sequence numbers of the documents, by slot. */
  readonly #seqs: number[] = []
  readonly #slotOf = new Map<string, number>()
  #alive = new Bits(0)
  #cursor = 0
  #forgotten = 0

  /** @param searchable whether to index the texts too, which takes most of the time and memory */
  constructor(table: DocumentTable, { fields, text = [] }: IndexedFields, searchable: boolean) {
    this.#table = table
    this.#fields = new Map(Object.keys(fields).map(name => [name, new Field()]))
    this.#readers = [...this.#fields].map(([name, field]) => {
      const read = reader(name)
      return document => field.values.push(read(document))
    })
    this.#textFields = text
    if (searchable) this.#text = new TextIndex()
  }

  get searchable(): boolean {
    return this.#text !== undefined
  }

  get size(): number {
    return this.#slotOf.size
  }

  /** Whether most slots are invalid: a rebuilt index would have at most half the size. */
  get fragmented(): boolean {
    return this.#ids.length > 2 * this.#slotOf.size + 1_000
  }

  /** Applies some of the new changes in the file. @returns whether there are no more */
  catchUp(): boolean {
    const forgotten = this.#table.forgottenThrough()
    // The tombstones of removed documents may have been forgotten before they were applied here.
    if (forgotten > this.#forgotten && this.#cursor < forgotten) this.#clear()
    this.#forgotten = forgotten
    const changes = this.#table.changesAfter(this.#cursor, SLICE)
    for (const change of changes) this.#apply(change)
    return changes.length < SLICE
  }

  #apply({ seq, id, doc }: Row) {
    this.#cursor = seq
    if (id === null) return this.#clear(seq)
    const replaced = this.#slotOf.get(id)
    if (replaced !== undefined) this.#alive.delete(replaced)
    if (doc === null) this.#slotOf.delete(id)
    else this.#add(seq, id, JSON.parse(doc))
  }

  /** Starts again, empty, with the changes after a sequence number. */
  #clear(cursor = 0) {
    this.#cursor = cursor
    this.#alive = new Bits(0)
    this.#slotOf.clear()
  }

  #add(seq: number, id: string, document: Record<string, unknown>) {
    const slot = this.#ids.length
    this.#ids.push(id)
    this.#seqs.push(seq)
    this.#slotOf.set(id, slot)
    this.#alive.add(slot)
    for (const read of this.#readers) read(document)
    if (this.#text) {
      const texts = this.#textFields.map(name => document[name]).filter(value => typeof value === 'string')
      this.#text.add(slot, texts.join('\n'))
    }
  }

  /** Slots of the documents that satisfy the filter. Its fields must exist; text terms need a searchable index. */
  select({ where = {}, text = [] }: Filter): Bits {
    const selected = this.#alive.copy()
    for (const [name, condition] of Object.entries(where))
      restrict(selected, condition, this.#field(name), () => this.#order([{ field: name, direction: 'asc' }]))
    for (const term of text) selected.keepAll((this.#text as TextIndex).slotsWith(term))
    return selected
  }

  /** The most frequent values of a field in the selection, then by value. */
  facet(selected: Bits, field: string, limit: number): ValueCount[] {
    const frequentFirst = (a: ValueCount, b: ValueCount) =>
      b.count - a.count || compareValues(a.value, b.value)
    return this.#field(field).counts(selected).sort(frequentFirst).slice(0, limit)
  }

  /** Sequence numbers of the documents of one page of the selection, in order. */
  page(selected: Bits, total: number, { sort = [], skip = 0, limit }: Query): number[] {
    if (skip >= total) return []
    const comparisons = total * Math.log2(total + 1)
    const walked = this.#ids.length * Math.min(1, (skip + limit) / total)
    const slots =
      comparisons * STEPS_PER_COMPARISON < walked
        ? selected
            .members()
            .sort(this.#compare(sort))
            .slice(skip, skip + limit)
        : this.#order(sort).page(selected, skip, limit)
    return slots.map(slot => this.#seqs[slot] as number)
  }

  #order(sort: readonly Sort[]): Order {
    const key = JSON.stringify(sort)
    let order = this.#orders.get(key)
    if (!order) {
      order = new Order(this.#compare(sort))
      this.#orders.set(key, order)
    }
    order.cover(this.#ids.length, this.#alive)
    return order
  }

  #compare(sort: readonly Sort[]) {
    return comparison(sort, name => this.#field(name), this.#ids)
  }

  #field(name: string): Field {
    return this.#fields.get(name) as Field
  }
}
