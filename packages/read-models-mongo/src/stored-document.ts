import type { Document } from '@gantry/read-models'
import type { Searchable } from './text.ts'

/** A document as it is in its collection. One that was removed leaves its revision behind, and is not live. */
export interface StoredDocument extends Partial<Searchable> {
  _id: string
  revision: number
  live: boolean
  /** Left out for a complete one. */
  incomplete?: boolean
  doc?: Document
  /** Says what `text` and `parts` were made of. */
  searchableBy?: string
}
