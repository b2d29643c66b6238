import { MemoryWords, type Posting, type Term, type WordSource } from '@gantry/stores'
import type { IndexPosition } from './index-tables.ts'
import { type IndexRows, KeptValues } from './kept-values.ts'

export type Impacts = ReadonlyMap<string, number>

/** The sequence number of a row, negative if its document was removed. */
const SIGNED = 'CASE WHEN id IS NULL THEN -seq ELSE seq END'
/** What a posting takes in memory. */
const BYTES_OF_POSTING = 60

/**
 * The words of the documents that have changed since the words in the file, in memory. The first search after a change reads
 * the changed document, later ones do not.
 */
export class RecentWords extends KeptValues implements WordSource {
  readonly #impactsAt: (seq: number) => Impacts
  /** The sequence number of the last change of each slot, the oldest first. */
  readonly #changed = new Map<number, number>()
  /** The slots of these documents by their sequence numbers, by which their words are known. */
  readonly #slots = new Map<number, number>()
  #words = new MemoryWords()
  #postings = 0
  #through: number

  /** @param through the change up to which the file has the words */
  constructor(through: number, impactsAt: (seq: number) => Impacts) {
    super({ rows: { sql: 'TRUE', params: [] }, value: SIGNED })
    this.#through = through
    this.#impactsAt = impactsAt
  }

  get byteLength(): number {
    return this.#postings * BYTES_OF_POSTING
  }

  get through(): number {
    return this.#through
  }

  /** As of KeptValues. */
  override update(index: IndexRows, position: IndexPosition): boolean {
    const { rows } = index.tables
    const sql = `SELECT slot, ${SIGNED} FROM ${rows} INDEXED BY ${rows}_seq WHERE seq > ? ORDER BY seq`
    return super.update(index, position, { sql, params: [this.#through] })
  }

  /** Whether the words of a slot in the file are outdated. */
  has(slot: number): boolean {
    return this.#changed.has(slot)
  }

  wordsLike(term: Term): Iterable<string> {
    return this.#words.wordsLike(term)
  }

  count(word: string): number {
    return this.#words.count(word)
  }

  postings(word: string, each: Posting): void {
    this.#words.postings(word, (seq, impact) => {
      const slot = this.#slots.get(seq)
      if (slot !== undefined) each(slot, impact)
    })
  }

  /** Forgets the changes that the file has the words of now. */
  forget(through: number): void {
    if (through === this.#through) return
    this.#through = through
    for (const [slot, seq] of this.#changed) {
      if (seq > through) break
      this.#changed.delete(slot)
      this.#slots.delete(seq)
    }
    this.#words = new MemoryWords()
    this.#postings = 0
    for (const seq of this.#slots.keys()) this.#add(seq)
  }

  protected set(slot: number, value: number): void {
    const before = this.#changed.get(slot)
    if (before !== undefined) {
      this.#changed.delete(slot)
      this.#slots.delete(before)
    }
    const seq = Math.abs(value)
    this.#changed.set(slot, seq)
    if (value < 0) return
    this.#slots.set(seq, slot)
    this.#add(seq)
  }

  protected clear(): void {
    this.#changed.clear()
    this.#slots.clear()
    this.#words = new MemoryWords()
    this.#postings = 0
  }

  #add(seq: number): void {
    const impacts = this.#impactsAt(seq)
    this.#words.add(seq, impacts)
    this.#postings += impacts.size
  }
}
