import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isPublicEventType } from '@gantry/contracts'
import { START } from '@gantry/event-sourcing'
import { bySource, type EventConsumer, eventConsumers, LANGUAGES } from '@gantry/faults/event-consumers'
import { openStores } from '@gantry/hosting/stores'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startLoad } from './support/load.ts'
import { startTopology, type Topology } from './support/topology.ts'

/** Number of pairs of a write and a read of its result. docs/performance.md has the result for 10,000. */
const PAIRS = Number(process.env.PAIRS ?? 200)
const WRITERS = 5
/** Time within which killed processes are ready again, and consumers have all events. */
const READY_MS = 60_000
/** GIF89a of 1 x 1 pixel. */
const IMAGE = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

let topology: Topology
let folder: string
let consumers: Map<string, EventConsumer>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-consumers-'))
  ;[topology, consumers] = await Promise.all([startTopology(), eventConsumers(folder)])
})
afterAll(async () => {
  await topology.stop()
  await rm(folder, { recursive: true })
})

interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: JSON of any resource
  body: any
}

test(`${PAIRS} writes are each visible to the next connection, through any gateway and replica`, async () => {
  const { authorization, urls } = topology
  let connections = 0
  /** Sends a request on a new connection, through the gateways in turn. */
  const ask = (method: string, path: string, body?: Buffer | object): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const type = Buffer.isBuffer(body) ? 'multipart/form-data; boundary=b' : 'application/json'
      const outgoing = request(
        `${urls[connections++ % urls.length]}${path}`,
        {
          method,
          agent: new Agent({ keepAlive: false }),
          headers: { authorization, ...(body && { 'content-type': type }) },
        },
        incoming => {
          const chunks: Buffer[] = []
          incoming.on('data', chunk => chunks.push(chunk))
          incoming.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            resolve({ status: incoming.statusCode ?? 0, body: text === '' ? undefined : JSON.parse(text) })
          })
        },
      )
      outgoing.on('error', reject)
      outgoing.end(body && !Buffer.isBuffer(body) ? JSON.stringify(body) : body)
    })
  const form = Buffer.concat([
    Buffer.from(
      '--b\r\ncontent-disposition: form-data; name="file"; filename="i.gif"\r\ncontent-type: image/gif\r\n\r\n',
    ),
    IMAGE,
    Buffer.from('\r\n--b--\r\n'),
  ])

  const stale: string[] = []
  let pairs = 0
  const pair = async (what: string, write: Answer, expected: number, read: () => Promise<boolean>) => {
    if (write.status !== expected) throw new Error(`${what}: ${write.status} ${JSON.stringify(write.body)}`)
    pairs++
    if (!(await read())) stale.push(what)
  }

  const writer = async (number: number) => {
    const tag = `writer-${number}`
    let live = 0
    const listed = async () => (await ask('GET', `/apis?tags=${tag}&size=1`)).body.totalElements === live
    for (let n = 0; pairs < PAIRS; n++) {
      const api = { name: `pair-${number}-${n}`, displayName: 'one', status: 'ACTIVE', tags: [tag] }
      const created = await ask('POST', '/apis', api)
      live++
      await pair('created, counted', created, 201, listed)
      const path = `/apis/${created.body.id}`
      const updated = await ask('PUT', path, { ...api, displayName: 'two' })
      await pair('updated', updated, 200, async () => (await ask('GET', path)).body.displayName === 'two')
      const version = { name: '1.0.0', displayName: 'x', status: 'ACTIVE' }
      await pair('version, listed', await ask('POST', `${path}/versions`, version), 201, async () => {
        return (await ask('GET', `${path}/versions`)).body.totalElements === 1
      })
      await pair('image, hasImage', await ask('PUT', `${path}/image`, form), 200, async () => {
        return (await ask('GET', path)).body.hasImage === true
      })
      await pair('image deleted, hasImage', await ask('DELETE', `${path}/image`), 204, async () => {
        return (await ask('GET', path)).body.hasImage === false
      })
      if (n % 2 === 1) {
        const deleted = await ask('DELETE', path)
        live--
        await pair('deleted, counted', deleted, 204, listed)
      }
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)))
  expect(pairs).toBeGreaterThanOrEqual(PAIRS)
  expect(stale).toEqual([])
}, 1_800_000)

describe('a consumer of events that is killed, while replicas and gateways are killed under load', () => {
  const each = <Result>(work: (one: EventConsumer) => Promise<Result>) =>
    Promise.all([...consumers.values()].map(work))
  const follow = (url: string | undefined) =>
    each(async consumer => consumer.start({ url: url ?? '', authorization: topology.authorization }))
  const dead = () => topology.said.filter(line => line.includes('SIGKILL')).length
  /** Kills processes. Resolves when they are ready again. */
  const restart = async (...names: string[]) => {
    const expected = dead() + names.length
    for (const name of names) process.kill(topology.pid(name), 'SIGKILL')
    await vi.waitFor(() => expect(dead()).toBe(expected), { timeout: READY_MS })
    await vi.waitFor(() => expect(topology.processes.every(({ state }) => state() === 'ready')).toBe(true), {
      timeout: READY_MS,
    })
  }
  const make = async (path: string, body: object) =>
    expect((await topology.send(path, { method: 'POST', body: JSON.stringify(body) })).status).toBe(201)

  beforeAll(async () => {
    const url = 'https://example.com/'
    await make('/webhooks', { displayName: 'x', url, active: false, eventTypes: ['API_CREATED'] })
    await make('/users', { username: 'reader', displayName: 'x', sso: true })
    const load = startLoad(topology, { writers: 2, readers: 0, images: true })
    const [first, second] = topology.urls
    await follow(first)
    await vi.waitFor(() => each(async ({ events }) => expect((await events()).length).toBeGreaterThan(10)), {
      timeout: READY_MS,
    })
    const restarted = restart('gateway-1', 'catalog-1', 'media-1')
    await each(consumer => consumer.kill())
    await follow(second)
    await restarted
    // The consumers continue by themselves when their gateway is back.
    await restart('gateway-2', 'catalog-2', 'media-2')
    await load.stop()
  })
  afterAll(() => each(consumer => consumer.kill()))

  test.for(LANGUAGES)('has exactly the events of the log: %s', async (language, { skip }) => {
    skip(!consumers.has(language), `there is no ${language}`)
    const logged = bySource(await publicEvents())
    expect(Object.keys(logged)).toEqual(Object.values(SOURCES).toSorted())
    await vi.waitFor(
      async () => expect(bySource((await consumers.get(language)?.events()) ?? [])).toEqual(logged),
      { timeout: READY_MS, interval: 100 },
    )
  })
})

/** Sources of public events by category of their streams. */
const SOURCES = { api: 'catalog', image: 'media', user: 'identity', webhook: 'notifier' }

/** The public events in the log itself, so that also an event which no relay has published is missed. */
async function publicEvents(): Promise<{ id: string; source: string }[]> {
  const stores = openStores(topology.engines.urls)
  const events: { id: string; source: string }[] = []
  for (const [category, source] of Object.entries(SOURCES))
    for await (const { id, metadata } of stores.eventStore.readAll({
      after: START,
      streamPrefixes: [`${category}-`],
    }))
      if (metadata.change && isPublicEventType(metadata.change.action)) events.push({ id, source })
  await stores.close()
  return events
}
