import { setImmediate } from 'node:timers/promises'
import type { Collection, CollectionDefinition, CollectionName, Document, Write } from '@gantry/read-models'
import { type ChoiceOfLists, type ChoiceOptions, chooseLists } from './choice-of-lists.ts'
import { type DocumentTable, discarding, documentTable, storedName } from './document-table.ts'
import { discardIndexes, purgingIndexes } from './index-tables.ts'
import type { FileAccess } from './lists.ts'
import type { ReadModelsFile } from './read-models-file.ts'
import { sqliteCollection } from './sqlite-collection.ts'

type Definition = CollectionDefinition<Document>

interface CollectionsOptions extends Omit<ChoiceOptions, keyof FileAccess | 'inMemoryBelow'> {
  /** Default: see IN_MEMORY_BELOW. */
  inMemoryBelow: number | undefined
  /** Time in milliseconds since 1970, for the age of tombstones. */
  now(): number
}

/** A collection with `validity` grows with each change and is rarely listed, so little memory is spent on it. */
const IN_MEMORY_BELOW = { withValidity: 20_000, withTexts: 200_000, withoutTexts: 500_000 }

/** The collections of a file that this process uses. Those of the same name and version have one table. */
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
      while (await write(piece)) await setImmediate()
  }

  /** Deletes what indexes still have of replaced and removed documents, in pieces. */
  async purgeIndexes(): Promise<void> {
    const { db, read, write } = this.#file
    const piece = read(() => purgingIndexes(db))
    while (await write(piece)) await setImmediate()
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
