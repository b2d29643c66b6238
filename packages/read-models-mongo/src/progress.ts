/** The collection of leases and checkpoints, which share the documents of their names, and of notes on removals. */
export const PROGRESS = 'progress'

export interface Progress {
  _id: string
  /** The checkpoint. */
  position?: string
  /** The token of the lease of another name that the checkpoint was saved under last. */
  fence?: number
  /** Who has the lease; null when it was given up. */
  holder?: string | null
  token?: number
  /** How long the holder may be silent. */
  ttlMs?: number
  /** Counts what happens to the lease, so that others see whether its holder lives. */
  beat?: number
  /** From when on removals of a collection may be forgotten, in milliseconds since 1970 by the server's clock. */
  forgetsFrom?: number
}
