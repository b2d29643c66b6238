import type { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Collection, CollectionDefinition, CollectionName, Document, Write } from '@gantry/stores'
import { type DocumentTable, discarding, documentTable, storedName } from './document-table.ts'
import { FileIndex } from './file-index.ts'
import { type FileLists, fileLists } from './file-lists.ts'
import { discardIndexes, hasIndex, purgingIndexes } from './index-tables.ts'
import type { FileAccess, Lists } from './lists.ts'
import { memoryLists } from './memory-lists.ts'
import type { ReadModelsFile } from './read-models-file.ts'
import { sqliteCollection } from './sqlite-collection.ts'

/**
 * Minimum number of changes between two counts of the documents, because counting takes time. Large collections are
 * counted less often: after a fiftieth of `inMemoryBelow`.
 */
const CHANGES_PER_COUNT = 1_000

/** Selects the index that answers the queries of a collection. */
export interface ChoiceOfLists {
  lists(): Lists
  /** To be called at the end of each transaction that changes the collection, to update the index in the file. */
  changed(): void
}

interface ChoiceOptions extends FileAccess {
  /** Collections with fewer documents are queried through an index in memory. */
  inMemoryBelow: number
  /** How long a query waits for an index that is being built, in milliseconds. */
  indexWaitMs: number
  /** Receives messages about an index that takes long to build, and about a collection that is too large for memory. */
  log(message: string): void
}

/**
 * Queries use an index in memory while a collection has fewer than `inMemoryBelow` documents. From then on, or if the
 * definition has `listedBy`, they use an index in the file. A collection that outgrows memory is queried in memory until the
 * index in the file is built, unless it reaches twice `inMemoryBelow` documents before. A collection that shrinks to half of
 * `inMemoryBelow` is queried in memory after the next start. A collection with `validity` moves to the file also when it is
 * not queried.
 */
function chooseLists(
  db: DatabaseSync,
  table: DocumentTable,
  definition: CollectionDefinition<Document>,
  options: ChoiceOptions,
): ChoiceOfLists {
  const { inMemoryBelow, log, read } = options
  const { name, validity } = definition
  const countDocuments = counterOf(table, Math.max(CHANGES_PER_COUNT, inMemoryBelow / 50))
  let index: FileIndex | undefined
  let inFile: FileLists | undefined
  let current: Lists | undefined
  let isInMemory = false
  let moving = false
  let reported = false

  const openFile = (): FileLists => {
    index ??= read(() => new FileIndex(db, table, definition))
    inFile ??= fileLists(index, { ...options, name })
    return inFile
  }

  const useFile = (): Lists => {
    const opened = openFile()
    // Starts building before the first query waits for it; a failure is reported by that query.
    opened.prepare().catch(() => {})
    isInMemory = false
    return opened
  }

  const useMemory = (): Lists => {
    isInMemory = true
    return memoryLists(table, definition, options)
  }

  const moveToFile = async () => {
    moving = true
    try {
      const opened = openFile()
      await opened.prepare()
      current = opened
      isInMemory = false
    } catch {
      // The next query tries again; until then queries use memory.
    } finally {
      moving = false
    }
  }

  const lists = (): Lists => {
    current ??= read(() => belongsInFile(db, definition, countDocuments, inMemoryBelow))
      ? useFile()
      : useMemory()
    if (!isInMemory || read(countDocuments) < inMemoryBelow) return current
    if (!reported)
      log(`${name} has ${inMemoryBelow} documents or more: its index moves from memory into the file`)
    reported = true
    if (countDocuments() >= 2 * inMemoryBelow) current = useFile()
    else if (!moving) void moveToFile()
    return current
  }

  const prepare = () => {
    try {
      lists()
    } catch {
      // The disk may be full, for example: the next query tries again.
    }
  }
  prepare()

  const changed = () => {
    index?.applyAll()
    // After the transaction, so that the first query does not wait for the index.
    if (validity && isInMemory && !moving && countDocuments() >= inMemoryBelow) setImmediate(prepare)
  }

  return { lists, changed }
}

function belongsInFile(
  db: DatabaseSync,
  definition: CollectionDefinition<Document>,
  countDocuments: () => number,
  inMemoryBelow: number,
): boolean {
  if (definition.listedBy !== undefined) return true
  const documents = countDocuments()
  return documents >= inMemoryBelow || (documents > inMemoryBelow / 2 && hasIndex(db, definition))
}

/** Caches the number of documents of a table until so many changes have been made. */
function counterOf(table: DocumentTable, changesPerCount: number): () => number {
  let counted: { documents: number; at: number } | undefined
  return () => {
    const last = table.last()
    if (!counted || last - counted.at >= changesPerCount || last < counted.at)
      counted = { documents: table.count(), at: last }
    return counted.documents
  }
}

type Definition = CollectionDefinition<Document>

interface CollectionsOptions extends Omit<ChoiceOptions, keyof FileAccess | 'inMemoryBelow'> {
  /** Default: see IN_MEMORY_BELOW. */
  inMemoryBelow: number | undefined
  /** Time in milliseconds since 1970, for the age of tombstones. */
  now(): number
}

/** A collection with `validity` grows with each change and is rarely listed, so little memory is spent on it. */
const IN_MEMORY_BELOW = { withValidity: 20_000, withTexts: 200_000, withoutTexts: 500_000 }

/** The collections of a file that this process uses. Definitions with the same name and version share a table. */
export class Collections {
  readonly #file: ReadModelsFile
  readonly #options: CollectionsOptions
  readonly #tables = new Map<string, DocumentTable>()
  readonly #choices = new WeakMap<object, ChoiceOfLists>()
  readonly #opened = new WeakMap<object, unknown>()

  constructor(file: ReadModelsFile, options: CollectionsOptions) {
    this.#file = file
    this.#options = options
  }

  open<D extends Document>(definition: CollectionDefinition<D>): Collection<D> {
    const known = this.#opened.get(definition) as Collection<D> | undefined
    if (known) return known
    const { read, write } = this.#file
    const { lists, changed } = this.#choiceOf(definition as unknown as Definition)
    const opened = sqliteCollection(definition, {
      table: this.table(definition),
      lists,
      read,
      now: this.#options.now,
      write: job =>
        write(() => {
          const result = job()
          changed()
          return result
        }),
    })
    this.#opened.set(definition, opened)
    return opened
  }

  table(collection: CollectionName): DocumentTable {
    const key = keyOf(collection)
    let table = this.#tables.get(key)
    if (!table) {
      const { db, exclusive, read } = this.#file
      table = read(() => documentTable(db, collection, exclusive))
      this.#tables.set(key, table)
    }
    return table
  }

  /** Deletes a collection in pieces, so that other writes do not wait for it. */
  async discard(collection: CollectionName): Promise<void> {
    const { db, read, write } = this.#file
    this.#tables.delete(keyOf(collection))
    for (const piece of [discardIndexes(db, collection), read(() => discarding(db, collection))])
      while (await write(piece)) await nextTurn()
  }

  /** Deletes what indexes still have of replaced and removed documents, in pieces. */
  async purgeIndexes(): Promise<void> {
    const { db, read, write } = this.#file
    const piece = read(() => purgingIndexes(db))
    while (await write(piece)) await nextTurn()
  }

  /** @returns a function that stores the documents, in the transaction of the caller */
  storing(writes: readonly Write[]): () => void {
    const changes = writes.map(({ force = false, incomplete = false, ...write }) => ({
      table: this.table(write.collection),
      choice: this.#choiceOf(write.collection),
      change: {
        id: write.id,
        revision: write.revision,
        doc: write.doc && JSON.stringify(write.doc),
        overSame: force || !write.doc,
        incomplete,
      },
    }))
    return () => {
      const changed = new Set<ChoiceOfLists>()
      for (const { table, choice, change } of changes) if (table.store(change)) changed.add(choice)
      for (const choice of changed) choice.changed()
    }
  }

  #choiceOf(definition: Definition): ChoiceOfLists {
    let choice = this.#choices.get(definition)
    if (!choice) {
      const { db, read, snapshot, write } = this.#file
      const { indexWaitMs, log } = this.#options
      choice = chooseLists(db, this.table(definition), definition, {
        inMemoryBelow:
          this.#options.inMemoryBelow ??
          IN_MEMORY_BELOW[
            definition.validity ? 'withValidity' : definition.text ? 'withTexts' : 'withoutTexts'
          ],
        indexWaitMs,
        log,
        read,
        snapshot,
        write,
      })
      this.#choices.set(definition, choice)
    }
    return choice
  }
}

const keyOf = (collection: CollectionName) => `${storedName(collection)}@${collection.version}`
