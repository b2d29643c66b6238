import { KeptValues, larger } from './kept-values.ts'
import type { StoredValue } from './statements.ts'

/** What an id takes in the map and the arrays. */
const BYTES_OF_ID = 150

/** The slot of each id of an index. Ids have numbers, so that what refers to them stays valid when their slots change. */
export class KeptSlots extends KeptValues {
  readonly #numbers = new Map<StoredValue, number>()
  /** By number. */
  #slots = new Int32Array(0)
  /** By slot. */
  #ofSlot = new Int32Array(0)

  constructor() {
    super({ rows: { sql: 'id IS NOT NULL', params: [] }, value: 'id' })
  }

  get byteLength(): number {
    return this.#numbers.size * BYTES_OF_ID
  }

  /** Number of ids that have a number, those of removed documents among them. */
  get size(): number {
    return this.#numbers.size
  }

  /** The number of an id, from 1 on, whether or not it has a slot. */
  numberOf(id: StoredValue): number {
    let number = this.#numbers.get(id)
    if (number === undefined) {
      number = this.#numbers.size + 1
      this.#numbers.set(id, number)
      if (number >= this.#slots.length) this.#slots = larger(this.#slots, number + 1)
    }
    return number
  }

  /** The slots by the number of their id; 0 is none. */
  get slots(): Int32Array {
    return this.#slots
  }

  protected set(slot: number, id: StoredValue) {
    if (slot >= this.#ofSlot.length) this.#ofSlot = larger(this.#ofSlot, slot + 1)
    const before = this.#ofSlot[slot] as number
    if (this.#slots[before] === slot) this.#slots[before] = 0
    const number = id === null ? 0 : this.numberOf(id)
    this.#ofSlot[slot] = number
    if (number > 0) this.#slots[number] = slot
  }

  protected clear() {
    this.#slots.fill(0)
    this.#ofSlot.fill(0)
  }
}

/** A column with ids of the documents of another index. */
export class KeptReferences extends KeptValues {
  readonly to: KeptSlots
  /** By slot: the number of the id; 0 is none. */
  #numbers = new Int32Array(0)

  constructor(column: string, to: KeptSlots) {
    super({ rows: { sql: `${column} IS NOT NULL`, params: [] }, value: column })
    this.to = to
  }

  get byteLength(): number {
    return this.#numbers.byteLength
  }

  /** The slot of the document that a slot of this index refers to; 0 if there is none. */
  of(slot: number): number {
    return this.to.slots[this.#numbers[slot] ?? 0] ?? 0
  }

  protected set(slot: number, id: StoredValue) {
    if (slot >= this.#numbers.length) this.#numbers = larger(this.#numbers, slot + 1)
    this.#numbers[slot] = id === null ? 0 : this.to.numberOf(id)
  }

  protected clear() {
    this.#numbers.fill(0)
  }
}
