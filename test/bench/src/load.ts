import { Agent, request } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import autocannon from 'autocannon'
import { progress } from './report.ts'
import { sampleApi } from './sample-apis.ts'

export interface Load {
  url: string
  /** Default: 16 */
  connections?: number
  /** Default: 3 */
  seconds?: number
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  /** Called for every request. */
  body?: () => string
}

/** Keeps one request open per connection. @returns 2xx responses per second @throws Error on any other response */
export async function throughput({
  url,
  connections = 16,
  seconds = 3,
  method = 'GET',
  headers = {},
  body,
}: Load): Promise<number> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    method,
    headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && {
      setupClient: client => client.setBody(body()),
      requests: [{ setupRequest: wanted => ({ ...wanted, body: body() }) }],
    }),
  })
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${method} ${url}: ${result.non2xx} answers were not 2xx, ${result.errors} failed`)
  }
  return result['2xx'] / result.duration
}

const ROUNDS = 5

/** Measures two rates in turn. @returns the rates of `ours` and their ratios to `theirs`, without the first round */
export async function inTurn(
  name: string,
  theirs: () => Promise<number>,
  ours: () => Promise<number>,
): Promise<{ rates: number[]; ratios: number[] }> {
  const measured: { rate: number; ratio: number }[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    progress(`${name}, round ${round} of ${ROUNDS}`)
    const base = await theirs()
    const rate = await ours()
    // The first round is a warm-up.
    if (round > 0) measured.push({ rate, ratio: rate / base })
  }
  return { rates: measured.map(({ rate }) => rate), ratios: measured.map(({ ratio }) => ratio) }
}

/** Starts `work` at a fixed rate, whether or not earlier calls have ended. Resolves when all have. */
export async function paced(
  perSecond: number,
  seconds: number,
  work: (n: number) => Promise<unknown>,
): Promise<void> {
  const underWay: Promise<unknown>[] = []
  const startedAt = performance.now()
  for (let n = 0; n < perSecond * seconds; n++) {
    const due = startedAt + (n * 1000) / perSecond
    const wait = due - performance.now()
    if (wait > 0) await setTimeout(wait)
    underWay.push(work(n))
  }
  await Promise.all(underWay)
}

const keptOpen = new Agent({ keepAlive: true, maxSockets: 64 })

/**
 * Sends a request of a measured window on a keep-alive connection. It is bare HTTP, because the work of the client would be
 * measured with that of the service.
 * @returns milliseconds, status and body
 */
export function timed(
  method: string,
  url: string,
  headers: Record<string, string>,
  body?: string,
  agent = keptOpen,
): Promise<{ ms: number; status: number; text: string; at: number }> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    const outgoing = request(
      url,
      { method, agent, headers: { ...headers, ...(body && { 'content-type': 'application/json' }) } },
      answer => {
        const chunks: Buffer[] = []
        answer.on('data', chunk => chunks.push(chunk))
        answer.on('end', () => {
          const ms = performance.now() - startedAt
          resolve({
            ms,
            status: answer.statusCode ?? 0,
            text: Buffer.concat(chunks).toString(),
            at: Date.now(),
          })
        })
        answer.on('error', reject)
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

interface Creator {
  url: string
  authorization: string
  /** Suffix of the names, for a service that may have others. Default: none */
  run?: string
}

/** Creates APIs in measured windows. @returns a function that creates the next one */
export function apiCreator({ url, authorization, run = '' }: Creator) {
  let made = 0
  return async () => {
    const api = sampleApi(made++)
    const body = JSON.stringify({ ...api, name: `${api.name}${run}` })
    const answer = await timed('POST', `${url}/apis`, { authorization }, body)
    if (answer.status !== 201) throw new Error(`POST /apis answered ${answer.status}: ${answer.text}`)
    return answer
  }
}
