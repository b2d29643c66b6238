import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import type { Receiver } from './receiver.ts'
import type { Topology } from './topology.ts'

/** Acknowledged state of an API. Only one writer changes the API. */
interface Written {
  id: string
  name: string
  /** Number of acknowledged updates. The display name contains it. */
  updates: number
  deleted: boolean
  hasImage: boolean
  /** Whether a change is under way: readers may see it or not. */
  changing: boolean
}

export interface Load {
  /** Number of acknowledged writes so far. */
  readonly acknowledged: number
  /** Unexpected responses to writes, as text. */
  readonly refusedWrites: readonly string[]
  /** Reads that failed and failed again when repeated. */
  readonly failedReads: readonly string[]
  /** Responses that lacked a write that was acknowledged before the read. */
  readonly staleReads: readonly string[]
  /** Stops after the requests that are under way. */
  stop(): Promise<void>
  /** Fails unless all acknowledged writes exist, names are unique, events are in order per API, and nothing was a 500. */
  check(receiver: Receiver): Promise<void>
}

export interface LoadOptions {
  writers?: number
  readers?: number
  /** Pause between two requests of a client, in milliseconds. */
  restMs?: number
  /** Whether APIs get images, which one service stores and another shows. */
  images?: boolean
}

const AGAIN_MS = 200
/** Time after which a client gives up on a write. */
const PATIENCE_MS = 90_000
const DELIVERED_MS = 90_000

/**
 * Clients that create, update, delete and read APIs through all gateways. A write with an unexpected response is sent
 * again with the same Idempotency-Key until the expected response arrives.
 */
export function startLoad(
  topology: Topology,
  { writers = 4, readers = 4, restMs = 80, images = false }: LoadOptions = {},
): Load {
  const written: Written[] = []
  const refusedWrites: string[] = []
  const failedReads: string[] = []
  const staleReads: string[] = []
  const stopping = new AbortController()
  const run = randomUUID().slice(0, 8)
  let acknowledged = 0

  const write = async (
    method: string,
    path: string,
    expected: number,
    body?: object | FormData,
  ): Promise<Response> => {
    const key = randomUUID()
    const deadline = Date.now() + PATIENCE_MS
    for (let attempt = 1; ; attempt++) {
      const outcome = await topology
        .send(path, {
          method,
          headers: { 'idempotency-key': key },
          ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
        })
        .catch((error: Error) => error)
      if (outcome instanceof Response && outcome.status === expected) {
        acknowledged++
        return outcome
      }
      const said =
        outcome instanceof Response ? `${outcome.status} ${await outcome.text()}` : String(outcome.cause)
      // An earlier attempt deleted it and its response was lost.
      if (attempt > 1 && method === 'DELETE' && said.startsWith('404')) return new Response()
      refusedWrites.push(`${method} ${path}: ${said}`)
      if (Date.now() > deadline) throw new Error(`gave up on ${method} ${path}: ${said}`)
      await setTimeout(AGAIN_MS)
    }
  }

  const writer = async (number: number) => {
    for (let n = 0; !stopping.signal.aborted; n++) {
      const api = { name: `${run}-w${number}-${n}`, displayName: '0', status: 'ACTIVE', tags: [] }
      const created = await write('POST', '/apis', 201, api)
      const { id } = (await created.json()) as { id: string }
      const mine: Written = {
        id,
        name: api.name,
        updates: 0,
        deleted: false,
        hasImage: false,
        changing: false,
      }
      written.push(mine)
      const change = async (made: Partial<Written>, ...written: Parameters<typeof write>) => {
        mine.changing = true
        await write(...written)
        Object.assign(mine, made, { changing: false })
        await setTimeout(restMs)
      }
      const path = `/apis/${id}`
      await change({ updates: 1 }, 'PUT', path, 200, { ...api, displayName: '1' })
      if (n % 2 === 0) await change({ updates: 2 }, 'PUT', path, 200, { ...api, displayName: '2' })
      if (images) await change({ hasImage: true }, 'PUT', `${path}/image`, 200, imageForm())
      if (n % 4 === 3) await change({ deleted: true }, 'DELETE', path, 204)
    }
  }

  const read = (path: string): Promise<Response> =>
    topology.send(path).catch((error: Error) => new Response(String(error.cause), { status: 599 }))

  const reader = async (number: number) => {
    for (let n = number; !stopping.signal.aborted; n += 7) {
      await setTimeout(restMs)
      // Reads one of the newest APIs, which some replicas may not have projected yet.
      const api = written.at(-1 - (n % Math.min(written.length, 20)))
      if (!api) continue
      const before = { ...api }
      let answer = await read(`/apis/${api.id}`)
      if (answer.status >= 500) {
        const first = `${answer.status} ${await answer.text()}`
        answer = await read(`/apis/${api.id}`)
        if (answer.status >= 500) {
          failedReads.push(`${first}, then ${answer.status} ${await answer.text()}`)
          continue
        }
      }
      const mayBeGone = before.changing || api.changing || api.deleted
      if (answer.status === 404 && mayBeGone) continue
      const body = (await answer.json()) as { displayName?: string; hasImage?: boolean }
      const upToDate = Number(body.displayName) >= before.updates && (body.hasImage || !before.hasImage)
      if (answer.status === 200 && !before.deleted && upToDate) continue
      staleReads.push(`${answer.status} ${JSON.stringify(body)} for ${JSON.stringify(before)}`)
    }
  }

  const clients = [
    ...Array.from({ length: writers }, (_, number) => writer(number)),
    ...Array.from({ length: readers }, (_, number) => reader(number)),
  ]
  // The failure of a client is reported by stop().
  for (const client of clients) client.catch(() => {})

  return {
    get acknowledged() {
      return acknowledged
    },
    refusedWrites,
    failedReads,
    staleReads,
    async stop() {
      stopping.abort()
      await Promise.all(clients)
    },
    async check(receiver) {
      expect(await topology.faults()).toEqual([])
      await checkRecords(topology, written, run)
      await vi.waitFor(() => expect(undelivered(written, receiver)).toEqual([]), {
        timeout: DELIVERED_MS,
        interval: 500,
      })
      await vi.waitFor(async () => expect(await outOfOrder(topology, written)).toEqual([]), {
        timeout: DELIVERED_MS,
        interval: 1_000,
      })
    },
  }
}

/** GIF89a of 1 x 1 pixel. */
const IMAGE = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

export function imageForm(): FormData {
  const form = new FormData()
  form.set('file', new Blob([IMAGE], { type: 'image/gif' }), 'one.gif')
  return form
}

async function checkRecords(topology: Topology, written: readonly Written[], run: string): Promise<void> {
  const names: string[] = []
  for (let page = 1, last = false; !last; page++) {
    const answer = await topology.send(`/apis?size=100&page=${page}`)
    expect(answer.status).toBe(200)
    const body = (await answer.json()) as { content: { name: string }[]; last: boolean }
    names.push(...body.content.map(({ name }) => name).filter(name => name.startsWith(run)))
    last = body.last
  }
  const live = written.filter(({ deleted }) => !deleted)
  expect(names.toSorted()).toEqual(live.map(({ name }) => name).toSorted())
  for (const { id, updates, deleted, hasImage } of written) {
    const answer = await topology.send(`/apis/${id}`)
    expect(answer.status).toBe(deleted ? 404 : 200)
    if (!deleted) expect(await answer.json()).toMatchObject({ displayName: String(updates), hasImage })
  }
}

/** Events of an API from catalog, in order. Events from media are not part of this order. */
const expectedEvents = ({ updates, deleted }: Written) => [
  'API_CREATED',
  ...Array.from({ length: updates }, () => 'API_UPDATED'),
  ...(deleted ? ['API_DELETED'] : []),
]

/** Events that the receiver lacks or received with more than one id. */
function undelivered(written: readonly Written[], receiver: Receiver): string[] {
  return written.flatMap(api => {
    const all = [...expectedEvents(api), ...(api.hasImage ? ['API_IMAGE_UPDATED'] : [])]
    const expected = Map.groupBy(all, type => type)
    return [...expected]
      .filter(([type, { length }]) => receiver.arrived(api.id, type).size !== length)
      .map(([type]) => `${api.name}: ${type}`)
  })
}

/** APIs whose catalog events are not on the bus exactly once and in order. */
async function outOfOrder(topology: Topology, written: readonly Written[]): Promise<string[]> {
  const answer = await topology.send('/events', { headers: { accept: 'application/x-ndjson' } })
  const events = (await answer.text())
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as { subject: string; type: string; source: string })
    .filter(({ source }) => source === 'catalog')
  const bySubject = Map.groupBy(events, ({ subject }) => subject)
  return written
    .filter(api => {
      const types = (bySubject.get(api.id) ?? []).map(({ type }) => type)
      return types.join() !== expectedEvents(api).join()
    })
    .map(api => `${api.name}: ${(bySubject.get(api.id) ?? []).map(({ type }) => type)}`)
}
