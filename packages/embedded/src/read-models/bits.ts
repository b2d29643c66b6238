/** A set of small integers, one bit each, so that set operations handle 32 members at a time. Grows as needed. */
export class Bits {
  #words: Uint32Array

  /** @param capacity members 0..capacity-1 fit without growing */
  constructor(capacity: number) {
    this.#words = new Uint32Array((capacity + 31) >>> 5)
  }

  add(member: number) {
    const word = member >>> 5
    if (word >= this.#words.length) this.#grow(word)
    this.#words[word] = (this.#words[word] as number) | (1 << (member & 31))
  }

  delete(member: number) {
    const word = member >>> 5
    if (word < this.#words.length) this.#words[word] = (this.#words[word] as number) & ~(1 << (member & 31))
  }

  has(member: number): boolean {
    return (((this.#words[member >>> 5] ?? 0) >>> (member & 31)) & 1) === 1
  }

  addAll(other: Bits) {
    const others = other.#words
    if (others.length > this.#words.length) this.#grow(others.length - 1)
    const own = this.#words
    for (let i = 0; i < others.length; i++) own[i] = (own[i] as number) | (others[i] as number)
  }

  keepAll(other: Bits) {
    const own = this.#words
    const others = other.#words
    const shared = Math.min(own.length, others.length)
    for (let i = 0; i < shared; i++) own[i] = (own[i] as number) & (others[i] as number)
    own.fill(0, shared)
  }

  deleteAll(other: Bits) {
    const own = this.#words
    const others = other.#words
    const shared = Math.min(own.length, others.length)
    for (let i = 0; i < shared; i++) own[i] = (own[i] as number) & ~(others[i] as number)
  }

  copy(): Bits {
    const copy = new Bits(0)
    copy.#words = this.#words.slice()
    return copy
  }

  count(): number {
    let count = 0
    for (const word of this.#words) count += onesIn(word)
    return count
  }

  /** Number of members that both sets have. */
  countShared(other: Bits): number {
    const others = other.#words
    let count = 0
    for (let i = 0; i < Math.min(this.#words.length, others.length); i++)
      count += onesIn((this.#words[i] as number) & (others[i] as number))
    return count
  }

  /** The members, ascending. */
  members(): number[] {
    const members: number[] = []
    this.#words.forEach((word, index) => {
      for (let rest = word; rest !== 0; rest &= rest - 1)
        members.push(index * 32 + 31 - Math.clz32(rest & -rest))
    })
    return members
  }

  #grow(word: number) {
    const words = new Uint32Array(Math.max(word + 1, this.#words.length * 2))
    words.set(this.#words)
    this.#words = words
  }
}

/** Number of set bits: adds neighboring groups of 1, 2 and 4 bits, then all bytes by one multiplication. */
function onesIn(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

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
