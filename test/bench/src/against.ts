import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { type GantryClient, gantryClient, logIn } from '@gantry/client'
import { apiCreator, paced, timed } from './load.ts'
import { type Figure, progress, withoutTarget } from './report.ts'
import { quantile } from './statistics.ts'

export interface Deployment {
  /** Address of the gateway, or of the single process, with its BASE_PATH. */
  url: string
  /** Address at which the deployment reaches this process. Default: http://127.0.0.1 with a free port. */
  receiver?: URL
  /** Duration of the steady load. Default: 10 seconds */
  minutes?: number
}

const READS = 400
const BURST = 1_000
const PER_SECOND = 20
const CONNECTIONS = 64
/** How long deliveries may take after the last event before they count as missing. */
const LATEST_MS = 60_000

type Timed = Awaited<ReturnType<typeof timed>>

/**
 * Measures a running deployment from outside: reads, creations and the way of events to a receiver in this process. It
 * creates APIs and one webhook with the rights of GANTRY_TOKEN or of the administrator, and deletes them at the end.
 * @throws Error when the deployment refuses a request
 */
export async function against({ url, receiver, minutes = 1 / 6 }: Deployment): Promise<Figure[]> {
  const seconds = Math.round(minutes * 60)
  const authorization = `Bearer ${await tokenFor(url)}`
  const gantry = gantryClient({ baseUrl: url, token: authorization.slice('Bearer '.length) })
  const receipts = await receiveAt(receiver)
  const created = new Map<string, Timed>()
  const next = apiCreator({ url, authorization, run: crypto.randomUUID().slice(0, 8) })
  const create = async () => {
    const answer = await next()
    created.set(JSON.parse(answer.text).id, answer)
  }
  const { body: webhook } = await gantry.createWebhook({
    body: { displayName: 'bench', url: receipts.url, active: true, eventTypes: ['API_CREATED'] },
  })
  try {
    const measure = async (what: string, load: () => Promise<unknown>) => {
      progress(`${url}: ${what}`)
      const before = new Set(created.keys())
      const startedAt = Date.now()
      await load()
      const ids = [...created.keys()].filter(id => !before.has(id))
      const lastAt = await receipts.all(ids)
      return { answers: ids.map(id => created.get(id) as Timed), ids, seconds: (lastAt - startedAt) / 1000 }
    }
    await measure('warm-up', () => concurrently(CONNECTIONS / 4, 100, create))
    const single = await measure('creations, one at a time', () => concurrently(1, 100, create))
    const steady = await measure(`${PER_SECOND} events a second for ${seconds} s`, () =>
      paced(PER_SECOND, seconds, create),
    )
    const burst = await measure(`${BURST} events from ${CONNECTIONS} connections`, () =>
      concurrently(CONNECTIONS, BURST, create),
    )
    const ways = ({ ids }: { ids: string[] }) =>
      ids.map(id => receipts.at(id) - (created.get(id) as Timed).at)
    return [
      ...(await reads(url, authorization, created.keys().next().value as string)),
      times(
        'creation, one at a time',
        single.answers.map(({ ms }) => ms),
      ),
      times(
        `creation in a burst of ${BURST} from ${CONNECTIONS} connections`,
        burst.answers.map(({ ms }) => ms),
      ),
      withoutTarget('created and delivered in this burst', `${(BURST / burst.seconds).toFixed(0)}/s`),
      times(`acknowledgement to receipt at ${PER_SECOND}/s for ${seconds} s`, ways(steady)),
      times('acknowledgement to receipt in the burst', ways(burst)),
    ]
  } finally {
    progress(`${url}: deletes ${created.size} APIs and the webhook`)
    await removeAll(gantry, webhook.id, [...created.keys()])
    receipts.stop()
  }
}

async function tokenFor(baseUrl: string): Promise<string> {
  const { GANTRY_TOKEN, GANTRY_ADMIN_USERNAME = 'admin', GANTRY_ADMIN_PASSWORD } = process.env
  if (GANTRY_TOKEN) return GANTRY_TOKEN
  if (!GANTRY_ADMIN_PASSWORD) throw new Error('set GANTRY_TOKEN, an access token, or GANTRY_ADMIN_PASSWORD')
  return logIn({ baseUrl, username: GANTRY_ADMIN_USERNAME, password: GANTRY_ADMIN_PASSWORD })
}

async function concurrently(connections: number, times: number, work: () => Promise<unknown>): Promise<void> {
  const waiting = Array.from({ length: times }).values()
  await Promise.all(
    Array.from({ length: connections }, async () => {
      for (const _ of waiting) await work()
    }),
  )
}

const times = (name: string, ms: readonly number[]): Figure => {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map(q => quantile(ms, q).toFixed(1))
  return withoutTarget(`${name}, p50 / p95 / p99`, `${p50} / ${p95} / ${p99} ms`)
}

async function reads(url: string, authorization: string, id: string): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const path of [`/apis/${id}`, '/apis?size=10', '/apis?q=payment&size=10']) {
    progress(`${url}: GET ${path}`)
    const taken: number[] = []
    const startedAt = performance.now()
    await concurrently(16, READS, async () => {
      const { ms, status, text } = await timed('GET', `${url}${path}`, { authorization })
      if (status !== 200) throw new Error(`GET ${path} answered ${status}: ${text}`)
      taken.push(ms)
    })
    const rate = READS / ((performance.now() - startedAt) / 1000)
    const name = `GET ${path.replace(id, '{id}')} from 16 connections`
    figures.push(times(name, taken), withoutTarget(`${name}, rate`, `${rate.toFixed(0)}/s`))
  }
  return figures
}

/** Receives the events of created APIs, and knows when each arrived. */
async function receiveAt(address: URL | undefined) {
  const receivedAt = new Map<string, number>()
  const server = createServer(async (request, response) => {
    const at = Date.now()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    response.writeHead(204).end()
    const { data } = JSON.parse(Buffer.concat(chunks).toString())
    if (!receivedAt.has(data.id)) receivedAt.set(data.id, at)
  })
  await new Promise<void>(resolve => {
    server.listen(Number(address?.port ?? 0), address ? undefined : '127.0.0.1', resolve)
  })
  return {
    url: address?.href ?? `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    at: (id: string) => receivedAt.get(id) as number,
    /** @returns when the last one arrived, in milliseconds since 1970 @throws Error when some do not arrive */
    async all(ids: readonly string[]): Promise<number> {
      const deadline = Date.now() + LATEST_MS
      for (;;) {
        const missing = ids.filter(id => !receivedAt.has(id)).length
        if (missing === 0) return Math.max(...ids.map(id => receivedAt.get(id) as number))
        if (Date.now() > deadline)
          throw new Error(
            `${missing} of ${ids.length} events did not arrive within ${LATEST_MS / 1000} s: can the deployment reach the receiver (--receiver, WEBHOOK_ALLOWED_CIDRS)?`,
          )
        await setTimeout(20)
      }
    },
    stop: () => server.close().closeAllConnections(),
  }
}

async function removeAll(gantry: GantryClient, webhook: string, apis: readonly string[]): Promise<void> {
  await gantry.deleteWebhook({ webhook_id: webhook })
  const left = apis.values()
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const api_id of left) await gantry.deleteApi({ api_id })
    }),
  )
}
