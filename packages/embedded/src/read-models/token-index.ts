import { Bits, SlotSet } from './bits.ts'

/** Distinct tokens and the slots that each occurs in. Tokens are found by any substring. */
export class TokenIndex {
  #numbers = new Map<string, number>()
  #tokens: string[] = []
  #slots: SlotSet[] = []
  /** Tokens by pair of adjacent characters. */
  #pairs = new Map<number, number[]>()

  /** Slots must be added in ascending order. */
  add(token: string, slot: number) {
    const number = this.#numbers.get(token)
    const slots = number === undefined ? this.#addToken(token) : (this.#slots[number] as SlotSet)
    slots.add(slot)
  }

  /** The slots that have a token that contains the substring. */
  slotsWith(part: string): Bits {
    const found = new Bits(0)
    for (const number of this.#candidates(part))
      if (this.#tokens[number]?.includes(part)) this.#slots[number]?.addTo(found)
    return found
  }

  /** The tokens that contain the rarest of the pairs of the substring; all tokens for a single character. */
  #candidates(part: string): Iterable<number> {
    let candidates: readonly number[] | undefined
    for (let at = 1; at < part.length; at++) {
      const tokens = this.#pairs.get(pairAt(part, at)) ?? []
      if (!candidates || tokens.length < candidates.length) candidates = tokens
    }
    return candidates ?? this.#tokens.keys()
  }

  #addToken(slice: string): SlotSet {
    const token = ownCopy(slice)
    const number = this.#tokens.length
    const slots = new SlotSet()
    this.#numbers.set(token, number)
    this.#tokens.push(token)
    this.#slots.push(slots)
    for (let at = 1; at < token.length; at++) {
      const pair = pairAt(token, at)
      const tokens = this.#pairs.get(pair)
      if (!tokens) this.#pairs.set(pair, [number])
      else if (tokens.at(-1) !== number) tokens.push(number)
    }
    return slots
  }
}

const pairAt = (text: string, at: number) => text.charCodeAt(at - 1) * 65_536 + text.charCodeAt(at)

/** Copies the substring: V8's slice of a string would keep the whole string in memory. */
const ownCopy = (slice: string) => Buffer.from(slice, 'utf16le').toString('utf16le')
