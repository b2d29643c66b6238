import type { Document } from '@gantry/stores'
import type { Searchable } from './text.ts'

/** A document in its collection. A removed document leaves a tombstone: its revision without a document, not `live`. */
export interface StoredDocument extends Partial<Searchable> {
  _id: string
  revision: number
  live: boolean
  /** Absent for a complete document. */
  incomplete?: boolean
  /** When `forgetRemoved` first saw the tombstone, in milliseconds since 1970 by the clock of the server. */
  metAt?: number
  doc?: Document
  /** The words of the document and pairs of them, and the impact of each: for searches. */
  words?: string[]
  impacts?: Record<string, number>
  /** Describes what `text`, `parts` and `words` were made from. */
  searchableBy?: string
}
