import type { PageFormat } from './feed-formats.ts'
import type { Chunk, Entry } from './streamed-events.ts'

/** Longest time for a page whose filters let little pass. */
const PAGE_MS = 2_000
/** Characters after which a page takes no further event: it is in memory until the reader has received it. */
const PAGE_LENGTH = 2_097_152

export interface PageOptions {
  chunks: AsyncIterable<Chunk>
  passes(entry: Entry): boolean
  format: PageFormat
  /** Maximum number of events. */
  size: number
  /** The position at which the page begins. */
  position: string
}

/** A page of events, with the position after it. */
export async function eventPage(options: PageOptions): Promise<{ body: string; position: string }> {
  const { chunks, passes, format, size, position: start } = options
  const deadline = performance.now() + PAGE_MS
  const events: string[] = []
  let position = start
  let length = 0
  const isFull = () => events.length === size || length >= PAGE_LENGTH
  for await (const chunk of chunks) {
    for (const entry of chunk.entries) {
      if (isFull()) break
      position = entry.position
      if (!passes(entry)) continue
      const text = format.event(entry)
      events.push(text)
      length += text.length
    }
    if (isFull()) break
    position = chunk.position
    if (performance.now() > deadline) break
  }
  return { body: format.body(events, position), position }
}
