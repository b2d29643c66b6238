import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isPublicEventType } from '@gantry/contracts'
import { START } from '@gantry/event-sourcing'
import { bySource, type EventConsumer, eventConsumers, LANGUAGES } from '@gantry/faults/event-consumers'
import { openStores } from '@gantry/hosting/stores'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startLoad } from './support/load.ts'
import { startTopology, type Topology } from './support/topology.ts'

/** Time within which killed processes are ready again, and consumers have all events. */
const READY_MS = 60_000
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
