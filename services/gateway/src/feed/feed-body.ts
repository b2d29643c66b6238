import { Readable } from 'node:stream'
import { chunkBytes, type StreamFormat } from './feed-formats.ts'
import type { Chunk, Entry } from './streamed-events.ts'

/** Bytes that are buffered per reader, in addition to one chunk and the buffer of the socket. */
const BUFFERED_BYTES = 16_384

export interface FeedBodyOptions {
  chunks: AsyncIterable<Chunk>
  format: StreamFormat
  passes(entry: Entry): boolean
  follow: boolean
}

/** The body of a streaming response. */
export interface FeedBody {
  readable: Readable
  /** Sends where the stream has arrived, if that has changed since the last event, or else a heartbeat. */
  tick(): void
}

/** Takes one chunk at a time, when the reader asks for it, so that events do not pile up for a slow reader. */
export function feedBody({ chunks, format, passes, follow }: FeedBodyOptions): FeedBody {
  /** Position after the taken chunks, if they have had no event for the reader since the last one sent. */
  let silent: string | undefined

  async function* bytes(): AsyncGenerator<string | Buffer> {
    // Sends the headers at once, even if the first event comes much later.
    if (follow) yield format.heartbeat
    for await (const chunk of chunks) {
      const events = chunkBytes(format, chunk, passes)
      if (events) yield events
      const isSilent = !events || !chunk.entries.slice(-1).every(passes)
      silent = isSilent ? chunk.position : undefined
    }
  }

  const readable = Readable.from(bytes(), { objectMode: false, highWaterMark: BUFFERED_BYTES })
  return {
    readable,
    tick() {
      if (readable.readableLength > 0 || readable.readableEnded) return
      readable.push(silent === undefined ? format.heartbeat : format.progress(silent))
      silent = undefined
    },
  }
}
