import { Bits } from './bits.ts'
import { SlotSet } from './slot-set.ts'

/** Distinct tokens and the slots each occurs in, found by any part of a token. */
export class TokenIndex {
  #numbers = new Map<string, number>()
  #tokens: string[] = []
  #slots: SlotSet[] = []
  /** The tokens in which two characters stand side by side. */
  #pairs = new Map<number, number[]>()

  /** Slots come in ascending order. */
  add(token: string, slot: number) {
    const number = this.#numbers.get(token)
    const slots = number === undefined ? this.#addToken(token) : (this.#slots[number] as SlotSet)
    slots.add(slot)
  }

  /** The slots with a token that contains the part. */
  slotsWith(part: string): Bits {
    const found = new Bits(0)
    for (const number of this.#candidates(part))
      if (this.#tokens[number]?.includes(part)) this.#slots[number]?.addTo(found)
    return found
  }

  /** The tokens of the rarest pair of neighbours; all tokens for a single character. */
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

/** A part of a text keeps all of it in memory; its copy does not. */
const ownCopy = (slice: string) => Buffer.from(slice, 'utf16le').toString('utf16le')
