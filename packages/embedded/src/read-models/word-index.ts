import {
  impactsOf,
  isPair,
  mayBeMistyped,
  type Posting,
  stemOf,
  type Term,
  type WordSource,
} from '@gantry/stores'
import { LRUCache } from 'lru-cache'
import type { DocumentTable } from './document-table.ts'
import type { Indexed, IndexPosition, IndexTables, WordTables } from './index-tables.ts'
import { type Impacts, RecentWords } from './recent-words.ts'
import type { Statements } from './statements.ts'

/** Slots of one part of the postings of a word. A part is rewritten when one of its slots changes. */
const PART = 1_024
/** Bytes of an entry: two of the slot in its part, one of the impact, and in the entry of a pair three of its hash. */
const [ENTRY, ENTRY_OF_PAIR] = [3, 6]
/** Pairs whose hashes have the same last bits share a row: most pairs are rare, and a row for each takes longer to write. */
const BITS_OF_ROW = 10
/** Changes that are applied together. */
const CHANGES_AT_ONCE = 512
/** Searches wait while more changes are not applied. The words of the others are kept in memory. */
const MOST_RECENT = 4_096
/** Postings that one transaction changes: some 40 ms. Fewer at once take more time for each document. */
const EDITS = 30_000
/** Number of words that the index remembers to be in the file. */
const REMEMBERED = 50_000
/** Size of the cache of impacts, in words. */
const KEPT_WORDS = 100_000
/** The most words that a beginning stands for, and that have a stem, the shortest ones first. */
const MOST_WORDS = 200

/** The words of the documents of an index, for searches. */
export class WordIndex {
  readonly #tables: IndexTables
  readonly #words: WordTables
  readonly #statements: Statements
  readonly #documents: DocumentTable
  readonly #definition: Indexed
  /** Words that the file has, if this process has applied the last changes. */
  readonly #known = new Set<string>()
  #knownAt = 0
  /** By sequence number. */
  readonly #impacts = new LRUCache<number, Impacts>({ maxSize: KEPT_WORDS })

  constructor(
    { tables, statements, words }: { tables: IndexTables; statements: Statements; words: WordTables },
    documents: DocumentTable,
    definition: Indexed,
  ) {
    this.#tables = tables
    this.#words = words
    this.#statements = statements
    this.#documents = documents
    this.#definition = definition
  }

  /** Whether searches need not wait until more changes are applied. */
  isCurrent({ cursor, emptied }: IndexPosition): boolean {
    const position = this.#position()
    return position.emptied === emptied && cursor - position.through < MOST_RECENT
  }

  /** Whether there are enough changes to be applied together. */
  isDue({ cursor, emptied }: IndexPosition): boolean {
    const position = this.#position()
    return position.emptied !== emptied || cursor - position.through >= CHANGES_AT_ONCE
  }

  /**
   * Applies some changes, or a part of one. Needs a writing transaction in which the rows are current.
   * @returns whether there are no more
   */
  apply({ cursor, emptied }: IndexPosition): boolean {
    const { words, postings, wordings, worded } = this.#words
    const position = this.#position()
    if (position.emptied !== emptied) {
      for (const table of [words, postings, wordings]) this.#statements.run(`DELETE FROM ${table}`)
      this.#statements.run(`UPDATE ${worded} SET through = 0, emptied = ?`, [emptied])
      position.through = 0
    }
    if (position.through !== this.#knownAt) this.#known.clear()
    const edits = new Edits()
    const changed = this.#changed(position.through, CHANGES_AT_ONCE)
    let isAll = changed.length < CHANGES_AT_ONCE
    for (const { slot, seq, live } of changed) {
      if (edits.count >= EDITS || !this.#edit(slot, live ? this.#impactsAt(seq) : new Map(), edits)) {
        isAll = false
        break
      }
      position.through = seq
    }
    this.#store(edits)
    // The last changes can lack a row: the removal of an unknown document has none.
    const through = isAll ? cursor : position.through
    this.#statements.run(`UPDATE ${worded} SET through = ?`, [through])
    this.#knownAt = through
    return through === cursor
  }

  /** The words of recent changes, which its `update` brings up to date. @param known those of an earlier search */
  recent({ emptied }: IndexPosition, known: RecentWords | undefined): RecentWords {
    const position = this.#position()
    const through = position.emptied === emptied ? position.through : 0
    // With an earlier position, words of the file were rolled back.
    if (!known || known.through > through) return new RecentWords(through, seq => this.#impactsAt(seq))
    known.forget(through)
    return known
  }

  /** The words of all documents, in the state of the transaction of the caller. @param recent up to date */
  source(recent: RecentWords): WordSource {
    const unchanged =
      (each: Posting): Posting =>
      (slot, impact) => {
        if (!recent.has(slot)) each(slot, impact)
      }
    if (recent.through === 0) return recent
    return {
      wordsLike: term => new Set([...this.#wordsLike(term), ...recent.wordsLike(term)]),
      count: word => this.#count(word) + recent.count(word),
      postings: (word, each) => {
        this.#postings(word, unchanged(each))
        recent.postings(word, each)
      },
    }
  }

  #position(): { through: number; emptied: number } {
    const [through, emptied] = this.#statements.row(`SELECT through, emptied FROM ${this.#words.worded}`) as [
      number,
      number,
    ]
    return { through, emptied }
  }

  #changed(through: number, limit: number): { slot: number; seq: number; live: boolean }[] {
    const { rows } = this.#tables
    return this.#statements
      .rows(
        `SELECT slot, seq, id IS NOT NULL FROM ${rows} INDEXED BY ${rows}_seq WHERE seq > ? ORDER BY seq LIMIT ?`,
        [through, limit],
      )
      .map(([slot, seq, live]) => ({ slot: slot as number, seq: seq as number, live: live === 1 }))
  }

  #impactsAt(seq: number): Impacts {
    const known = this.#impacts.get(seq)
    if (known) return known
    const doc = this.#documents.at(seq)?.doc
    const { search } = this.#definition
    const impacts = doc && search ? impactsOf(search, JSON.parse(doc)) : new Map<string, number>()
    this.#impacts.set(seq, impacts, { size: impacts.size + 1 })
    return impacts
  }

  /** Notes what has to change for a slot, as far as there is room. @returns whether that is all */
  #edit(slot: number, wanted: Impacts, edits: Edits): boolean {
    const { wordings } = this.#words
    const stored = this.#statements.row(`SELECT words FROM ${wordings} WHERE slot = ?`, [slot])?.[0]
    const known = new Map<string, number>(stored === undefined ? [] : JSON.parse(String(stored)))
    let isWhole = true
    let isSame = true
    for (const word of known.size === 0 ? wanted.keys() : new Set([...known.keys(), ...wanted.keys()])) {
      const [before = 0, after = 0] = [known.get(word), wanted.get(word)]
      if (before === after) continue
      if (edits.count >= EDITS) {
        isWhole = false
        break
      }
      isSame = false
      edits.add(word, { slot, before, after })
      if (after === 0) known.delete(word)
      else known.set(word, after)
    }
    if (isSame) return isWhole
    if (known.size === 0) this.#statements.run(`DELETE FROM ${wordings} WHERE slot = ?`, [slot])
    else
      this.#statements.run(`INSERT OR REPLACE INTO ${wordings} VALUES (?, ?)`, [
        slot,
        JSON.stringify([...known]),
      ])
    return isWhole
  }

  /** Rows in their order take half of the time. */
  #store(edits: Edits): void {
    for (const key of [...edits.byKey.keys()].sort()) {
      const changes = edits.byKey.get(key) as Edit[]
      const parts = Map.groupBy(changes, ({ slot }) => Math.floor(slot / PART))
      for (const [part, ofPart] of parts) this.#storePart([key, part], ofPart)
      if (!isPair(key)) this.#know(key, changes)
    }
  }

  #storePart(key: [key: string, part: number], edits: readonly Edit[]): void {
    const { postings } = this.#words
    const added = entriesOf(key[0], edits)
    if (edits.every(({ before }) => before === 0)) {
      this.#statements.run(
        `INSERT INTO ${postings} VALUES (?, ?, ?) ON CONFLICT (word, part)
         DO UPDATE SET entries = CAST(entries || excluded.entries AS BLOB)`,
        [...key, added],
      )
      return
    }
    const sql = `SELECT entries FROM ${postings} WHERE word = ? AND part = ?`
    const stored = (this.#statements.row(sql, key)?.[0] ?? new Uint8Array()) as Uint8Array
    const entries = Buffer.concat([entriesWithout(stored, key[0], edits), added])
    if (entries.length > 0)
      this.#statements.run(`INSERT OR REPLACE INTO ${postings} VALUES (?, ?, ?)`, [...key, entries])
    else this.#statements.run(`DELETE FROM ${postings} WHERE word = ? AND part = ?`, key)
  }

  /** Keeps a word in the vocabulary as long as a document has it. */
  #know(word: string, edits: readonly Edit[]): void {
    const { words, postings } = this.#words
    const isAdded = edits.some(({ after }) => after > 0)
    if (isAdded && !this.#known.has(word)) {
      if (this.#known.size >= REMEMBERED) this.#known.clear()
      this.#known.add(word)
      const row = [word, stemOf(word), tailOf(word)]
      this.#statements.run(`INSERT OR IGNORE INTO ${words} VALUES (?, ?, ?)`, row)
    }
    if (isAdded || this.#statements.row(`SELECT 1 FROM ${postings} WHERE word = ? LIMIT 1`, [word])) return
    this.#known.delete(word)
    this.#statements.run(`DELETE FROM ${words} WHERE word = ?`, [word])
  }

  #wordsLike(term: Term): string[] {
    const { words } = this.#words
    const { word, stem, synonyms, joined, isLast } = term
    const find = (condition: string, ...params: (string | number)[]) =>
      this.#statements
        .rows(`SELECT word FROM ${words} WHERE ${condition} LIMIT ${MOST_WORDS}`, params)
        .map(([found]) => String(found))
    if (joined) return [word]
    return [
      word,
      ...[stem, ...synonyms].flatMap(one => find('stem = ? ORDER BY length(word), word', one)),
      ...(isLast ? find('word > ? AND word < ? ORDER BY length(word), word', word, `${word}${LAST}`) : []),
      ...(mayBeMistyped(term) ? this.#wordsNear(word) : []),
    ]
  }

  /** One typo changes at most one of the ends of a word. */
  #wordsNear(word: string): string[] {
    const { words } = this.#words
    const end = Math.floor((word.length - 1) / 2)
    const near = (column: string, beginning: string) =>
      this.#statements
        .rows(
          `SELECT word FROM ${words} WHERE ${column} >= ? AND ${column} < ? AND length(word) BETWEEN ? AND ?`,
          [beginning, `${beginning}${LAST}`, word.length - 1, word.length + 1],
        )
        .map(([found]) => String(found))
    return [...near('word', word.slice(0, end)), ...near('tail', tailOf(word).slice(0, end))]
  }

  #count(word: string): number {
    const sql = `SELECT sum(length(entries)) / ${ENTRY} FROM ${this.#words.postings} WHERE word = ?`
    return this.#statements.number(sql, [word]) ?? 0
  }

  #postings(word: string, each: Posting): void {
    const sql = `SELECT part, entries FROM ${this.#words.postings} WHERE word = ?`
    const [key, hash] = isPair(word) ? keyOfPair(word) : [word, undefined]
    const size = hash === undefined ? ENTRY : ENTRY_OF_PAIR
    for (const [part, blob] of this.#statements.rows(sql, [key])) {
      const entries = blob as Uint8Array
      const first = (part as number) * PART
      for (let at = 0; at < entries.length; at += size)
        if (hash === undefined || hashAt(entries, at) === hash)
          each(first + slotAt(entries, at), entries[at + 2] as number)
    }
  }
}

/** Above every character of a word. */
const LAST = '\u{10ffff}'

const tailOf = (word: string) => [...word].reverse().join('')

/** A change of the impact of a word in a slot; 0 is none. */
interface Edit {
  slot: number
  before: number
  after: number
  /** Of a pair. */
  hash?: number
}

class Edits {
  /** By the word, or the key of a pair. */
  readonly byKey = new Map<string, Edit[]>()
  count = 0

  add(word: string, edit: Edit): void {
    this.count++
    let key = word
    if (isPair(word)) [key, edit.hash] = keyOfPair(word)
    const edits = this.byKey.get(key)
    if (edits) edits.push(edit)
    else this.byKey.set(key, [edit])
  }
}

/** The key of the row that has a pair, and the rest of its hash (FNV-1a). */
function keyOfPair(pair: string): [key: string, hash: number] {
  let hash = 0x81_1c_9d_c5
  for (let at = 0; at < pair.length; at++) hash = Math.imul(hash ^ pair.charCodeAt(at), 0x1_00_01_93)
  return [`~${hash & ((1 << BITS_OF_ROW) - 1)}`, hash >>> BITS_OF_ROW]
}

const sizeOf = (key: string) => (isPair(key) ? ENTRY_OF_PAIR : ENTRY)

function entriesOf(key: string, edits: readonly Edit[]): Uint8Array {
  const size = sizeOf(key)
  const entries = new Uint8Array(edits.length * size)
  let length = 0
  for (const { slot, after, hash } of edits) {
    if (after === 0) continue
    entries[length] = slot
    entries[length + 1] = (slot % PART) >> 8
    entries[length + 2] = after
    if (hash !== undefined)
      for (let byte = 0; byte < 3; byte++) entries[length + 3 + byte] = hash >> (8 * byte)
    length += size
  }
  return entries.subarray(0, length)
}

function entriesWithout(stored: Uint8Array, key: string, edits: readonly Edit[]): Uint8Array {
  const size = sizeOf(key)
  const keyOf = (slot: number, hash: number) => hash * PART + (slot % PART)
  const changed = new Set(edits.map(({ slot, hash = 0 }) => keyOf(slot, hash)))
  const kept = new Uint8Array(stored.length)
  let length = 0
  for (let at = 0; at < stored.length; at += size) {
    if (changed.has(keyOf(slotAt(stored, at), isPair(key) ? hashAt(stored, at) : 0))) continue
    kept.set(stored.subarray(at, at + size), length)
    length += size
  }
  return kept.subarray(0, length)
}

/** The slot of an entry in its part. */
const slotAt = (entries: Uint8Array, at: number) =>
  (entries[at] as number) + 256 * (entries[at + 1] as number)

const hashAt = (entries: Uint8Array, at: number) =>
  (entries[at + 3] as number) + 256 * (entries[at + 4] as number) + 65_536 * (entries[at + 5] as number)
