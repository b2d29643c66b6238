import { FIRST_GIVE_UP_MS, GIVE_UP_MS, Retries, TemporaryFailure } from '../retries.ts'
import { chunksOf } from './remote.ts'

export interface ResumedLinesOptions {
  /** Requests the lines after a position; undefined begins where the command was told to begin. */
  open(after: string | undefined, signal: AbortSignal): Promise<Response>
  /** The position of a line; undefined for a line without one, which does not count as progress. */
  positionOf(line: string): string | undefined
  /** Position to begin after. */
  after: string | undefined
  /** Whether the stream stays open for new lines. Once it was open, connections are then tried again without end. */
  follow: boolean
  signal: AbortSignal
}

/** The service sends an empty line every 15 s to followers, so a silent connection is a lost one. */
const SILENCE_MS = 60_000

/**
 * The complete lines of a stream, in batches as they arrive. After a lost connection, a 429 or a 5xx the stream is requested
 * again after the last position, so that no line is missed or repeated. A stream that does not follow is complete when a
 * request after its last line has no line: a service that stops ends a response early, and the end looks the same.
 * @throws CommandFailed
 */
export async function* resumedLines(options: ResumedLinesOptions): AsyncGenerator<string[]> {
  const { positionOf, follow, signal } = options
  const giveUpMs = follow ? Number.POSITIVE_INFINITY : GIVE_UP_MS
  const retries = new Retries({ signal, giveUpMs, firstGiveUpMs: FIRST_GIVE_UP_MS })
  let { after } = options
  while (!signal.aborted) {
    let received = 0
    try {
      for await (const lines of linesOf(options, { after, retries })) {
        received += lines.length
        after = positionOf(lines.at(-1) ?? '') ?? after
        yield lines
        // The time that the caller has taken does not count.
        retries.progress()
      }
      if (signal.aborted || (!follow && received === 0)) return
      if (follow) await retries.failed(new TemporaryFailure('the service has ended the response'))
    } catch (error) {
      if (signal.aborted) return
      await retries.failed(error)
    }
  }
}

/** The lines of one response. An incomplete line at its end is left out. */
async function* linesOf(
  { open, signal }: ResumedLinesOptions,
  { after, retries }: { after: string | undefined; retries: Retries },
): AsyncGenerator<string[]> {
  const silent = new AbortController()
  const either = AbortSignal.any([signal, silent.signal])
  const whileReading = () =>
    setTimeout(() => silent.abort(new Error('the connection was silent')), SILENCE_MS)
  let timer = whileReading()
  try {
    const answer = await open(after, either)
    retries.answered()
    const decoder = new TextDecoder()
    let rest = ''
    for await (const chunk of chunksOf(answer, silent.signal)) {
      clearTimeout(timer)
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      const complete = lines.filter(line => line !== '')
      if (complete.length > 0) yield complete
      timer = whileReading()
    }
  } finally {
    clearTimeout(timer)
  }
}
