import { sqliteEventStore } from '@gantry/embedded'
import { referencedBytes } from '@gantry/media'

export interface LogContent {
  /** Position of the last event. */
  position: string
  events: number
  /** SHA-256 of every existing image. */
  images: Set<string>
}

/** Reads a copy of a log that no other process uses. */
export async function contentOfLog(path: string): Promise<LogContent> {
  const log = sqliteEventStore({ path })
  try {
    return { position: await log.head(), events: await log.count(), images: await referencedBytes(log) }
  } finally {
    await log.close()
  }
}
