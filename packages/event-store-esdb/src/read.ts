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
    // A stream that is destroyed before it was read to its end never ends for the client, which waits for that.
    for await (const item of stream.iterator({ destroyOnReturn: false })) {
      timer.refresh()
      yield item
    }
    complete = true
  } finally {
    clearTimeout(timer)
    // Leaving the loop does not end the call on the server.
    if (!complete) stream.cancel().catch(() => {})
  }
}
