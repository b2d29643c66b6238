import { Bits } from './bits.ts'

/** What is this small stays a list, since slots to come may be rare. */
const FEW = 256
/** From here on a bit for each slot takes less memory than a list of the slots that are in. */
const DENSE = 1 / 64

/** The slots that share a value: a list while they are few, bits when they are many. */
export class SlotSet {
  #list: number[] = []
  #bits: Bits | undefined

  /** Slots come in ascending order; the last one may come again. */
  add(slot: number) {
    if (this.#bits) return this.#bits.add(slot)
    if (this.#list.at(-1) === slot) return
    this.#list.push(slot)
    if (this.#list.length > slot * DENSE + FEW) {
      this.#bits = this.#asBits()
      this.#list = []
    }
  }

  addTo(bits: Bits) {
    if (this.#bits) bits.addAll(this.#bits)
    else for (const slot of this.#list) bits.add(slot)
  }

  /** To be read only: it may be the set itself. */
  toBits(): Bits {
    return this.#bits ?? this.#asBits()
  }

  #asBits(): Bits {
    const bits = new Bits((this.#list.at(-1) ?? -1) + 1)
    for (const slot of this.#list) bits.add(slot)
    return bits
  }
}
