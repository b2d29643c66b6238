import type { DatabaseSync } from 'node:sqlite'
import type { CollectionDefinition, Document } from '@gantry/read-models'
import type { DocumentTable } from './document-table.ts'
import { FileIndex } from './file-index.ts'
import { type FileLists, fileLists } from './file-lists.ts'
import { hasIndex } from './index-tables.ts'
import type { FileAccess, Lists } from './lists.ts'
import { memoryLists } from './memory-lists.ts'

/** Documents are counted again after so many changes, or a fiftieth of what fits into memory: counting takes time. */
const CHANGES_PER_COUNT = 1_000

/** How the lists of a collection are answered. */
export interface ChoiceOfLists {
  lists(): Lists
  /** To be called at the end of each transaction that changes the collection: the index in the file takes the changes in. */
  changed(): void
}

export interface ChoiceOptions extends FileAccess {
  /** Collections of fewer documents are listed from an index in memory. */
  inMemoryBelow: number
  /** How long a list waits for an index that is being made. */
  patienceMs: number
  /** Told when an index takes long to make, and when a collection is too large for memory. */
  log(message: string): void
}

/**
 * Lists come from memory while a collection has fewer than `inMemoryBelow` documents, and from an index in the file from then
 * on, or where its definition has `listedBy`. A collection that outgrows memory is listed from there until the index in the
 * file is made, unless it has twice as many documents by then. A collection that shrinks to half of `inMemoryBelow` is listed
 * from memory after the next start.
 */
export function chooseLists(
  db: DatabaseSync,
  table: DocumentTable,
  definition: CollectionDefinition<Document>,
  options: ChoiceOptions,
): ChoiceOfLists {
  const { inMemoryBelow, log, read } = options
  const { name, listedBy } = definition
  const countDocuments = counterOf(table, Math.max(CHANGES_PER_COUNT, inMemoryBelow / 50))
  let index: FileIndex | undefined
  let inFile: FileLists | undefined
  let current: Lists | undefined
  let isInMemory = false
  let moving = false
  let told = false

  const openFile = (): FileLists => {
    index ??= read(() => new FileIndex(db, table, definition))
    inFile ??= fileLists(index, { ...options, name })
    return inFile
  }

  const useFile = (): Lists => {
    const opened = openFile()
    // Begun before the first caller waits for it; a failure shows when that caller comes.
    opened.prepare().catch(() => {})
    isInMemory = false
    return opened
  }

  const useMemory = (): Lists => {
    isInMemory = true
    return memoryLists(table, definition, options)
  }

  const belongsInFile = () => {
    if (listedBy !== undefined) return true
    const documents = countDocuments()
    return documents >= inMemoryBelow || (documents > inMemoryBelow / 2 && hasIndex(db, definition))
  }

  const open = (): Lists => (read(belongsInFile) ? useFile() : useMemory())

  const moveToFile = async () => {
    moving = true
    try {
      const opened = openFile()
      await opened.prepare()
      current = opened
      isInMemory = false
    } catch {
      // The next list tries again; until then it is answered from memory.
    } finally {
      moving = false
    }
  }

  const lists = (): Lists => {
    current ??= open()
    const documents = isInMemory ? read(countDocuments) : 0
    if (isInMemory && documents >= inMemoryBelow) {
      if (!told)
        log(`${name} has ${inMemoryBelow} documents or more: its index moves from memory into the file`)
      told = true
      if (documents >= 2 * inMemoryBelow) current = useFile()
      else if (!moving) void moveToFile()
    }
    return current
  }

  try {
    current = open()
  } catch {
    // A disk that is full, perhaps: the next list tries again.
  }

  return { lists, changed: () => index?.keepUp() }
}

/** Counts the documents of a table, again when so many changes have been made since. */
function counterOf(table: DocumentTable, changesPerCount: number): () => number {
  let counted: { documents: number; at: number } | undefined
  return () => {
    const last = table.last()
    if (!counted || last - counted.at >= changesPerCount || last < counted.at)
      counted = { documents: table.count(), at: last }
    return counted.documents
  }
}
