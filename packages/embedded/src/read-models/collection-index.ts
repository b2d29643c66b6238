import type { CollectionDefinition, Document, Filter, Query, Sort } from '@gantry/read-models'
import { LRUCache } from 'lru-cache'
import { Bits } from './bits.ts'
import type { DocumentTable, Row } from './document-table.ts'
import { Field, reader } from './field.ts'
import { restrict } from './filter.ts'
import { comparison, Order } from './order.ts'
import { TextIndex } from './text-index.ts'

/** Changes taken in at a time: a few milliseconds of work, so that loading leaves room for everything else. */
const SLICE = 250
/** Orders that are kept: 4 bytes for each slot. */
const ORDERS = 16
/** Comparing two slots takes as long as looking at this many in a row. */
const STEPS_PER_COMPARISON = 20

export interface IndexedFields extends Pick<CollectionDefinition<Document>, 'fields'> {
  text?: readonly string[]
}

/**
 * Answers filters and sorts over the documents of one collection, in memory. It follows the changes in the file, of
 * whatever process they are, and has nothing to tell the file: it can be made anew at any time.
 *
 * Each document has a slot, a small integer; a document that changes gets the next free one. So slots are only ever
 * added, everything that is kept by slot is brought up to date by looking at the new ones, and the slots that count
 * are told by one set.
 */
export class CollectionIndex {
  readonly #table: DocumentTable
  readonly #fields: ReadonlyMap<string, Field>
  readonly #readers: ReadonlyArray<(document: object) => void>
  readonly #textFields: readonly string[]
  readonly #text: TextIndex | undefined
  readonly #orders = new LRUCache<string, Order>({ max: ORDERS })
  /** By slot. */
  readonly #ids: string[] = []
  /** By slot. */
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

  /** Most slots no longer count: made anew, it would be half the size or less. */
  get worn(): boolean {
    return this.#ids.length > 2 * this.#slotOf.size + 1_000
  }

  /** Takes in some of the changes that are new in the file. @returns whether these were all */
  follow(): boolean {
    const forgotten = this.#table.forgottenThrough()
    // Of removals that were forgotten before they were taken in nothing tells any more.
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

  /** Begins anew with the changes after a place. */
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

  /** The documents that satisfy the filter, whose fields are known to exist. Terms need a searchable index. */
  select({ where = {}, text = [] }: Filter): Bits {
    const selected = this.#alive.copy()
    for (const [name, condition] of Object.entries(where))
      restrict(selected, condition, this.#field(name), () => this.#order([{ field: name, direction: 'asc' }]))
    for (const term of text) selected.keepAll((this.#text as TextIndex).slotsWith(term))
    return selected
  }

  /** Where the documents of a page of those selected were stored, in order. */
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
