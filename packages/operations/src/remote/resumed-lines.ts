import { Backoff, sleep } from '@gantry/messaging'
import { ConnectionLost, Refused, reasonOf } from './errors.ts'

export interface ResumedLinesOptions {
  /** Requests the lines after a position; undefined begins where the command was told to begin. */
  open(after: string | undefined, signal: AbortSignal): Promise<Response>
  /** The position of a line; undefined for a line without one, which does not count as progress. */
  positionOf(line: string): string | undefined
  /** Position to begin after. */
  after: string | undefined
  /** Whether the stream stays open for new lines. Then connections are tried again without end. */
  follow: boolean
  signal: AbortSignal
  /** Called before a pause, with a line for the user. */
  notice(line: string): void
}

const PAUSES = { firstMs: 500, longestMs: 30_000, jitter: 0.5 }
/** A command that is not to follow gives up when it has made no progress for this long. */
const GIVE_UP_MS = 120_000
/** A command that has received nothing yet gives up earlier: BASE_URL may be wrong. */
const FIRST_GIVE_UP_MS = 10_000
/** The service sends an empty line every 15 s to followers, so a silent connection is a lost one. */
const SILENCE_MS = 60_000

/**
 * The complete lines of a stream, in batches as they arrive. After a lost connection, a 429 or a 5xx the stream is requested
 * again after the last position, so that no line is missed or repeated. A stream that does not follow is complete when a
 * request after its last line has no line: a service that stops ends a response early, and the end looks the same.
 * @throws Refused, ConnectionLost
 */
export async function* resumedLines(options: ResumedLinesOptions): AsyncGenerator<string[]> {
  const { positionOf, follow, signal, notice } = options
  const pauses = new Backoff(PAUSES)
  let { after } = options
  let progressAt = performance.now()
  let giveUpMs = FIRST_GIVE_UP_MS
  while (!signal.aborted) {
    let received = 0
    try {
      for await (const lines of linesOf(options, after)) {
        received += lines.length
        after = positionOf(lines.at(-1) ?? '') ?? after
        progressAt = performance.now()
        giveUpMs = follow ? Number.POSITIVE_INFINITY : GIVE_UP_MS
        pauses.reset()
        yield lines
      }
      if (signal.aborted || (!follow && received === 0)) return
      if (follow) await sleep(pauses.next(), { signal })
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof ConnectionLost || (error instanceof Refused && error.isTemporary))) throw error
      if (performance.now() - progressAt > giveUpMs) throw error
      const pauseMs = Math.max(pauses.next(), (error instanceof Refused && error.retryAfterMs) || 0)
      notice(`${error.message}; trying again in ${(pauseMs / 1_000).toFixed(1)} s`)
      await sleep(pauseMs, { signal })
    }
  }
}

/** The lines of one response. An incomplete line at its end is left out. */
async function* linesOf(
  { open, signal }: ResumedLinesOptions,
  after: string | undefined,
): AsyncGenerator<string[]> {
  const silent = new AbortController()
  const either = AbortSignal.any([signal, silent.signal])
  const timer = setTimeout(() => silent.abort(new Error('the connection was silent')), SILENCE_MS)
  try {
    const { body } = await open(after, either)
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of body ?? []) {
      timer.refresh()
      const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      const complete = lines.filter(line => line !== '')
      if (complete.length > 0) yield complete
      timer.refresh()
    }
  } catch (error) {
    if (error instanceof Refused || error instanceof ConnectionLost || signal.aborted) throw error
    throw new ConnectionLost(`the connection was lost: ${reasonOf(silent.signal.reason ?? error)}`)
  } finally {
    clearTimeout(timer)
  }
}
