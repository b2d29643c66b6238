import { foldCase } from '@gantry/stores'
import { LRUCache } from 'lru-cache'
import type { Bits } from './bits.ts'
import { TokenIndex } from './token-index.ts'

const WORD = /[a-z0-9\u0080-\uffff]+/g
const ONLY_WORD = /^[a-z0-9\u0080-\uffff]*$/
const WHITESPACE = /\s+/

/** Maximum number of cached results: one bit per slot each, 12 KB at 100,000 slots. */
const CACHE_SIZE = 100

/**
 * Finds texts by any substring without whitespace, exactly. An occurrence lies within one of the tokens between whitespace.
 * If the substring has no ASCII punctuation, it lies within one of the words between punctuation, which have far fewer
 * distinct values.
 */
export class TextIndex {
  #words = new TokenIndex()
  /** Tokens that contain punctuation. */
  #compounds = new TokenIndex()
  #cache = new LRUCache<string, Bits>({ max: CACHE_SIZE })

  /** Slots must be added in ascending order. */
  add(slot: number, text: string) {
    const folded = foldCase(text)
    for (const token of folded.split(WHITESPACE)) {
      if (ONLY_WORD.test(token)) this.#words.add(token, slot)
      else {
        this.#compounds.add(token, slot)
        for (const word of token.match(WORD) ?? []) this.#words.add(word, slot)
      }
    }
    for (const [part, slots] of this.#cache.entries()) if (folded.includes(part)) slots.add(slot)
  }

  /** The result must not be modified: it is cached, and updated by `add`. */
  slotsWith(term: string): Bits {
    const part = foldCase(term)
    let slots = this.#cache.get(part)
    if (!slots) {
      slots = (ONLY_WORD.test(part) ? this.#words : this.#compounds).slotsWith(part)
      this.#cache.set(part, slots)
    }
    return slots
  }
}
