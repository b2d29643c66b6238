import type { Document } from '@gantry/read-models'
import type { Searchable } from './text.ts'

/** A document as it is in its collection. One that was removed leaves its revision behind, and is not live. */
export interface StoredDocument extends Partial<Searchable> {
  _id: string
  revision: number
  live: boolean
  /** Left out for a complete one. */
  incomplete?: boolean
  /** The newest rebuild that wrote it or something older; 0 for none. Releases before rebuilds had numbers leave it out. */
  generation?: number
  /** When a removal was first met by what forgets them, in milliseconds since 1970 by the server's clock. */
  metAt?: number
  doc?: Document
  /** Says what `text` and `parts` were made of. */
  searchableBy?: string
}
