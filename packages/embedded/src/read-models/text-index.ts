import { foldCase } from '@gantry/read-models'
import { LRUCache } from 'lru-cache'
import type { Bits } from './bits.ts'
import { TokenIndex } from './token-index.ts'

const WORD = /[a-z0-9\u0080-\uffff]+/g
const ONLY_WORD = /^[a-z0-9\u0080-\uffff]*$/
const WHITESPACE = /\s+/

/** Answers that are kept: a bit for each slot, 12 KB at 100,000 slots. */
const ANSWERS = 100

/**
 * Finds texts by any part without whitespace, exactly: an occurrence of a part lies within one of the text's tokens
 * between whitespace; and when it has no ASCII punctuation, within one of the words between punctuation, of which
 * there are far fewer distinct ones.
 */
export class TextIndex {
  #words = new TokenIndex()
  /** Tokens with punctuation in them. */
  #compounds = new TokenIndex()
  #answers = new LRUCache<string, Bits>({ max: ANSWERS })

  /** Slots come in ascending order. */
  add(slot: number, text: string) {
    const folded = foldCase(text)
    for (const token of folded.split(WHITESPACE)) {
      if (ONLY_WORD.test(token)) this.#words.add(token, slot)
      else {
        this.#compounds.add(token, slot)
        for (const word of token.match(WORD) ?? []) this.#words.add(word, slot)
      }
    }
    for (const [part, slots] of this.#answers.entries()) if (folded.includes(part)) slots.add(slot)
  }

  /** To be read only: the answer is kept, and kept up to date. */
  slotsWith(term: string): Bits {
    const part = foldCase(term)
    let slots = this.#answers.get(part)
    if (!slots) {
      slots = (ONLY_WORD.test(part) ? this.#words : this.#compounds).slotsWith(part)
      this.#answers.set(part, slots)
    }
    return slots
  }
}
