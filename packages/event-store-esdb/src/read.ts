import type { StreamingRead } from '@eventstore/db-client'

/**
 * Reads what the client streams. Reads know no deadline and hang on a frozen server until its connection is given
 * up: this gives up as soon as the server has been silent for too long.
 */
export async function* read<Item>(
  stream: StreamingRead<Item>,
  timeoutMs: number,
): AsyncGenerator<Item, void, undefined> {
  // A read that was left early may fail later, when nobody listens any more.
  stream.on('error', () => {})
  const timer = setTimeout(() => stream.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
  let complete = false
  try {
    for await (const item of stream.iterator({ destroyOnReturn: false })) {
      timer.refresh()
      yield item
    }
    complete = true
  } finally {
    clearTimeout(timer)
    if (!complete) leave(stream, stream.cancel())
  }
}

/** Leaving a stream neither ends the call nor takes what has come of it, without which the client never ends it. */
export function leave(stream: { resume(): unknown }, cancelled: Promise<void>): void {
  cancelled.catch(() => {})
  stream.resume()
}
