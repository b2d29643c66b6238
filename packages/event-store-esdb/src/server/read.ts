import type { StreamingRead } from '@eventstore/db-client'
import { NoResponse } from './errors.ts'

export interface ReadOptions {
  /** Timeout for silence of the server, in milliseconds. */
  timeoutMs: number
  /** Aborted, with the error to throw, when the node must not be used any more. */
  left: AbortSignal
}

/**
 * Reads a stream of the client. Reads have no deadline, and on a frozen server they hang until the connection is given up.
 * This gives up as soon as the server has been silent for too long.
 * @throws NoResponse
 */
export async function* read<Item>(
  stream: StreamingRead<Item>,
  { timeoutMs, left }: ReadOptions,
): AsyncGenerator<Item, void, undefined> {
  // An abandoned read may fail later, without a listener.
  stream.on('error', () => {})
  const timer = setTimeout(
    () => stream.destroy(new NoResponse(`no answer within ${timeoutMs} ms`)),
    timeoutMs,
  )
  const leave = () => void stream.destroy(left.reason)
  if (left.aborted) leave()
  left.addEventListener('abort', leave)
  let complete = false
  try {
    // For the client, a stream that is destroyed before its end never ends, and it would wait for that.
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
