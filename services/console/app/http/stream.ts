import { type Problem, ProblemError } from '@gantry/client'
import { authorizedFetch } from './client.ts'
import { INTERFACE_PATH } from './place.ts'
import { RequestFailed } from './problem.ts'

/** A request whose response is read while it arrives. */
interface StreamRequest {
  /** Path of the REST interface, e.g. `/events`. */
  path: string
  query: URLSearchParams
  accept: string
  signal: AbortSignal
}

/** The body of a successful response. @throws ProblemError or RequestFailed */
export async function openStream(asked: StreamRequest): Promise<ReadableStream<Uint8Array>> {
  const { path, query, accept, signal } = asked
  const response = await authorizedFetch(`${INTERFACE_PATH}${path}?${query}`, { headers: { accept }, signal })
  const { ok, status, body, headers } = response
  if (ok && body) return body
  const problem = await response.json().catch(() => ({ code: 'invalid-response' }))
  throw new ProblemError({ ...problem, status } as Problem, headers)
}

/**
 * The chunks of a body.
 * @param silentMs time without a chunk after which the connection counts as lost
 * @throws RequestFailed when the body is cut off or silent
 */
export async function* chunksOf(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  silentMs: number,
): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  let silent = false
  const giveUp = () => {
    silent = true
    // The read that waits ends as at the end of the body.
    reader.cancel(SILENT).catch(() => {})
  }
  try {
    for (;;) {
      const timer = setTimeout(giveUp, silentMs)
      const { value } = await reader.read().finally(() => clearTimeout(timer))
      if (silent) throw new RequestFailed(CUT_OFF)
      if (value === undefined) return
      yield value
    }
  } catch (error) {
    if (signal.aborted) throw error
    throw new RequestFailed(CUT_OFF)
  } finally {
    reader.cancel().catch(() => {})
  }
}

/** The complete lines of a body, those of one chunk at a time. An incomplete last line is dropped. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield lines
  }
}

const SILENT = 'nothing was received for too long'
const CUT_OFF = {
  status: 0,
  code: 'unreachable',
  title: 'The connection was lost',
  detail: 'The response was cut off before its end.',
}
