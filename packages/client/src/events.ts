import type { Schemas } from './operations.generated.ts'
import { ProblemError } from './problem.ts'
import { backoffMs, pathOf, type Send, sleep } from './transport.ts'

/** The service sends something at least every 15 seconds. */
const SILENT_MS = 40_000

export interface FollowOptions {
  /** Ends the iteration, without an error. */
  signal?: AbortSignal | undefined
  /**
   * Is told the position when no event has passed the filter for a while. Save it too: the position of an event that is older
   * than the retention of messages is refused.
   */
  onPosition?: (position: string) => void
}

/** A public event, or one of the types that are named, e.g. `StreamedEvent<'API_CREATED'>`. */
export type StreamedEvent<Type extends Schemas['StreamedEventType'] = Schemas['StreamedEventType']> = Extract<
  Schemas['StreamedEvent'],
  { type: Type }
>

/**
 * Events from a position on. A broken or silent connection is made again after the last position.
 * @param send without retries
 * @throws ProblemError with a status from 400 to 499, except 429
 */
export async function* followEvents(
  send: Send,
  { after, ...filter }: Record<string, unknown> = {},
  { signal, onPosition }: FollowOptions = {},
): AsyncGenerator<StreamedEvent, void, undefined> {
  let position = after as string | undefined
  for (let failures = 0; !signal?.aborted; ) {
    try {
      for await (const line of lines(send, { ...filter, after: position }, signal)) {
        failures = 0
        if (line === '') continue
        const event = JSON.parse(line) as StreamedEvent | { position: string }
        position = event.position
        if ('id' in event) yield event
        else onPosition?.(position)
      }
      // A service that stops ends the stream.
      await sleep(backoffMs(failures++), signal)
    } catch (error) {
      if (signal?.aborted) return
      if (isFinal(error)) throw error
      const asked = error instanceof ProblemError ? error.retryAfterMs : undefined
      await sleep(asked ?? backoffMs(failures++), signal)
    }
  }
}

const isFinal = (error: unknown) =>
  error instanceof SyntaxError ||
  (error instanceof ProblemError && error.status >= 400 && error.status < 500 && error.status !== 429)

/** The complete lines of a response, which ends with an error when the service is silent. */
async function* lines(
  send: Send,
  query: Record<string, unknown>,
  signal: AbortSignal | undefined,
): AsyncGenerator<string> {
  const ending = new AbortController()
  const silent = () => setTimeout(() => ending.abort(new Error('the service is silent')), SILENT_MS)
  let timer = silent()
  try {
    const body = await send(
      {
        method: 'GET',
        path: pathOf('/events', { ...query, follow: true }),
        headers: { accept: 'application/x-ndjson' },
        repeatable: true,
        signal: signal ? AbortSignal.any([signal, ending.signal]) : ending.signal,
      },
      async response => response.body,
    )
    const reader = body?.getReader()
    const decoder = new TextDecoder()
    for (let rest = ''; ; ) {
      const { value } = (await reader?.read()) ?? {}
      if (!value) return
      clearTimeout(timer)
      timer = silent()
      const parts = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = parts.pop() ?? ''
      yield* parts
    }
  } finally {
    clearTimeout(timer)
    ending.abort()
  }
}
