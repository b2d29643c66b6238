import type { CollectionDefinition, Document, Filter, Query, Sort, ValueCount } from '@gantry/read-models'
import { LRUCache } from 'lru-cache'
import { Bits } from './bits.ts'
import type { DocumentTable, Row } from './document-table.ts'
import { Field, reader } from './field.ts'
import { restrict } from './filter.ts'
import { compareValues, comparison, Order } from './order.ts'
import { TextIndex } from './text-index.ts'

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
