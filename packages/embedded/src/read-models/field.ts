import type { Scalar, ValueCount } from '@gantry/stores'
import { type Bits, SlotSet } from './bits.ts'

export type Value = Scalar | readonly Scalar[]

/** The values of one field by slot, and the slots by value. */
export class Field {
  /** Values by slot. */
  readonly values: Value[] = []
  #slots = new Map<Scalar, SlotSet>()
  #indexed = 0

  /**
   * The slots whose field has the value or an array that contains it. The index is built by the first call, then kept up to
   * date.
   */
  slotsWith(value: Scalar): SlotSet | undefined {
    this.#index()
    return this.#slots.get(value)
  }

  /** The values of the slots in the bits, each with the number of these slots; without null. */
  counts(bits: Bits): ValueCount[] {
    this.#index()
    const counted: ValueCount[] = []
    for (const [value, slots] of this.#slots) {
      const count = value === null ? 0 : slots.countIn(bits)
      if (value !== null && count > 0) counted.push({ value, count })
    }
    return counted
  }

  #index() {
    for (; this.#indexed < this.values.length; this.#indexed++) {
      const held = this.values[this.#indexed] as Value
      if (isArray(held)) for (const item of held) this.#add(item)
      else this.#add(held)
    }
  }

  #add(value: Scalar) {
    const slots = this.#slots.get(value)
    if (slots) return slots.add(this.#indexed)
    const first = new SlotSet()
    first.add(this.#indexed)
    this.#slots.set(value, first)
  }
}

const isArray: (value: Value) => value is readonly Scalar[] = Array.isArray

/** @returns a function that reads a dotted path of a document; a missing value is null */
export function reader(path: string): (document: object) => Value {
  const steps = path.split('.')
  return document => {
    let value: unknown = document
    for (const step of steps) {
      if (typeof value !== 'object' || value === null) return null
      value = (value as Record<string, unknown>)[step]
    }
    return (value ?? null) as Value
  }
}
