/** The collection of leases and checkpoints, which share a document if they have the same name. */
export const PROGRESS = 'progress'

export interface Progress {
  _id: string
  position?: string
  /** Token of the lease of another name that the checkpoint was last saved under. */
  fence?: number
  /** The holder of the lease; null after it was released. */
  holder?: string | null
  token?: number
  /** Duration of the lease without a renewal, in milliseconds. */
  ttlMs?: number
  /** Increases with every change of the lease, so that other processes see whether it is renewed. */
  beat?: number
}
