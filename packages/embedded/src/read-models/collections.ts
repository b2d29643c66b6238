import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Collection, CollectionDefinition, CollectionName, Document, Write } from '@gantry/stores'
import { type DocumentTable, discarding, documentTable, storedName } from './document-table.ts'
import { deletingIndexes, indexedCollection, mergingTrigrams } from './index-tables.ts'
import { Kept } from './kept-values.ts'
import { ListIndex } from './list-index.ts'
import { FEW_CHANGES, type FileAccess, Lists, type ListsOptions } from './lists.ts'
import type { ReadModelsFile } from './read-models-file.ts'
import { sqliteCollection } from './sqlite-collection.ts'

type Definition = CollectionDefinition<Document>

interface CollectionsOptions extends Omit<ListsOptions, keyof FileAccess | 'kept' | 'listsOf'> {
  /** Time in milliseconds since 1970, for the age of tombstones. */
  now(): number
}

/** The collections of a file that this process uses. Definitions with the same name and version share a table. */
export class Collections {
  readonly #file: ReadModelsFile
  readonly #options: CollectionsOptions
  readonly #tables = new Map<string, DocumentTable>()
  readonly #lists = new WeakMap<object, Lists>()
  readonly #opened = new WeakMap<object, unknown>()
  readonly #kept = new Kept()

  constructor(file: ReadModelsFile, options: CollectionsOptions) {
    this.#file = file
    this.#options = options
  }

  open<D extends Document>(definition: CollectionDefinition<D>): Collection<D> {
    const known = this.#opened.get(definition) as Collection<D> | undefined
    if (known) return known
    const { read, write } = this.#file
    const lists = () => this.#listsOf(definition as unknown as Definition)
    const written = isListed(definition) ? lists() : undefined
    const opened = sqliteCollection(definition, {
      table: this.table(definition),
      lists,
      read,
      now: this.#options.now,
      write: job =>
        write(() => {
          const result = job()
          written?.changed()
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
    const { db, read } = this.#file
    this.#tables.delete(keyOf(collection))
    await this.#inPieces(read(() => deletingIndexes(db, collection)))
    await this.#inPieces(read(() => discarding(db, collection)))
  }

  /** Deletes what the indexes in the file still have of replaced and removed documents, in pieces. */
  async purgeIndexes(): Promise<void> {
    const { db, read } = this.#file
    await this.#inPieces(read(() => deletingIndexes(db)))
    const next = (after?: ListIndex) =>
      read(() => {
        const definition = indexedCollection(db, after?.tables.number ?? 0)
        return definition && new ListIndex(db, this.table(definition), definition)
      })
    for (let index = next(); index; index = next(index)) {
      const behind = index
      await this.#inPieces(() => behind.exists() && !(behind.catchUp(FEW_CHANGES) && behind.applyWords()))
    }
    await this.#inPieces(read(() => mergingTrigrams(db)))
  }

  /** @returns a function that stores the documents, in the transaction of the caller */
  storing(writes: readonly Write[]): () => void {
    const changes = writes.map(({ force = false, incomplete = false, ...write }) => ({
      table: this.table(write.collection),
      lists: isListed(write.collection) ? this.#listsOf(write.collection) : undefined,
      change: {
        id: write.id,
        revision: write.revision,
        doc: write.doc && JSON.stringify(write.doc),
        overSame: force || !write.doc,
        incomplete,
      },
    }))
    return () => {
      const changed = new Set<Lists>()
      for (const { table, lists, change } of changes) if (table.store(change) && lists) changed.add(lists)
      for (const lists of changed) lists.changed()
    }
  }

  async #inPieces(piece: () => boolean): Promise<void> {
    while (await this.#file.write(piece)) await nextTurn()
  }

  #listsOf(definition: Definition): Lists {
    let lists = this.#lists.get(definition)
    if (!lists) {
      const { db, read, snapshot, tentatively, write } = this.#file
      const access = { read, snapshot, tentatively, write, kept: this.#kept }
      lists = new Lists(db, this.table(definition), definition, {
        ...this.#options,
        ...access,
        listsOf: other => this.#listsOf(other),
      })
      this.#lists.set(definition, lists)
      // Indexes of former shapes. What fails here is left to the next process.
      this.#inPieces(read(() => deletingIndexes(db))).catch(() => {})
    }
    return lists
  }
}

/** A collection without fields is rarely listed: its index is made by the first list, and updated by lists only. */
const isListed = ({ fields }: Pick<Definition, 'fields'>) => Object.keys(fields).length > 0

const keyOf = (collection: CollectionName) => `${storedName(collection)}@${collection.version}`
