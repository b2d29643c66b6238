import type { StreamingRead } from '@eventstore/db-client'
import { NoAnswer } from './errors.ts'

export interface ReadOptions {
  /** How long the server may be silent. */
  timeoutMs: number
  /** Aborted, with the error to throw, when the node that is read is not to be used any more. */
  left: AbortSignal
}

/**
 * Reads what the client streams. Reads know no deadline and hang on a frozen server until its connection is given
 * up: this gives up as soon as the server has been silent for too long.
 * @throws NoAnswer
 */
export async function* read<Item>(
  stream: StreamingRead<Item>,
  { timeoutMs, left }: ReadOptions,
): AsyncGenerator<Item, void, undefined> {
  // A read that was left early may fail later, when nobody listens any more.
  stream.on('error', () => {})
  const timer = setTimeout(() => stream.destroy(new NoAnswer(`no answer within ${timeoutMs} ms`)), timeoutMs)
  const leave = () => void stream.destroy(left.reason)
  if (left.aborted) leave()
  left.addEventListener('abort', leave)
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
    left.removeEventListener('abort', leave)
    // Leaving the loop does not end the call on the server.
    if (!complete) stream.cancel().catch(() => {})
  }
}
