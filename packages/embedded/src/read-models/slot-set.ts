import { Bits } from './bits.ts'

/** Sets up to this size stay lists, because later slots may be rare. */
const FEW = 256
/** Above this density one bit per slot takes less memory than a list of the members. */
const DENSE = 1 / 64

/** The slots that share a value: a list while they are few, a bit set when they are many. */
export class SlotSet {
  #list: number[] = []
  #bits: Bits | undefined

  /** Slots must be added in ascending order; the last one can be added again. */
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

  /** Number of slots that are in the bits, too. */
  countIn(bits: Bits): number {
    if (this.#bits) return this.#bits.countShared(bits)
    let count = 0
    for (const slot of this.#list) if (bits.has(slot)) count++
    return count
  }

  /** The result must not be modified: it may be the set itself. */
  toBits(): Bits {
    return this.#bits ?? this.#asBits()
  }

  #asBits(): Bits {
    const bits = new Bits((this.#list.at(-1) ?? -1) + 1)
    for (const slot of this.#list) bits.add(slot)
    return bits
  }
}
