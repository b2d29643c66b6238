import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { START } from '@gantry/event-sourcing'
import { firstAfter } from '@gantry/messaging'
import { inMemoryBroker } from '@gantry/messaging/testing'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { followingConsumer, logFollowers, showLag } from './lag.ts'
import { watchedLeases } from './lease-metrics.ts'

let folder: string
let stores: {
  eventStore: ReturnType<typeof sqliteEventStore>
  readModels: ReturnType<typeof sqliteReadModels>
}
let registry: Registry
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-lag-'))
  registry = new Registry()
  stores = {
    eventStore: sqliteEventStore({ path: join(folder, 'events.db') }),
    readModels: sqliteReadModels({ path: join(folder, 'read-models.db') }),
  }
})
afterEach(async () => {
  await Promise.all([stores.eventStore.close(), stores.readModels.close()])
  await rm(folder, { recursive: true })
})

const figures = async (name: string) =>
  (await registry.getSingleMetric(name)?.get())?.values.map(({ value }) => value)

test('a relay that is behind has the number and the age of the events after its checkpoint', async () => {
  const { eventStore, readModels } = stores
  const now = () => new Date(Date.now() + 60_000)
  for (const follower of logFollowers(stores, { relay: 'catalog.relay', projectors: [], now }))
    showLag(registry, follower)
  expect(await figures('gantry_relay_lag_events')).toEqual([0])
  const event = () => ({ id: randomUUID(), type: 'Made', data: {}, metadata: {} as never })
  const { position } = await eventStore.append('api-1', [event(), event(), event()], -1)
  expect(await figures('gantry_relay_lag_events')).toEqual([3])
  const [seconds = 0] = (await figures('gantry_relay_lag_seconds')) ?? []
  expect(seconds).toBeGreaterThan(59)
  expect(seconds).toBeLessThan(90)
  await readModels.checkpoints.save('catalog.relay', position)
  expect(await figures('gantry_relay_lag_events')).toEqual([0])
  expect(await figures('gantry_relay_lag_seconds')).toEqual([0])
  await readModels.checkpoints.save('catalog.relay', START)
  for (let n = 0; n < 3; n++) await eventStore.append(`api-${n}-many`, Array.from({ length: 600 }, event), -1)
  expect(await figures('gantry_relay_lag_events')).toEqual([1_803])
})

test('a consumer has the number of its messages and the age of the one that it handles', async () => {
  const bus = inMemoryBroker().connect()
  const now = () => new Date(Date.now() + 60_000)
  const of = { consumer: 'media', subjects: ['events.>'] }
  const { readModels } = stores
  const consumer = followingConsumer({ bus, readModels, now }, of)
  showLag(registry, consumer)
  await bus.publish([1, 2].map(n => ({ id: `${n}`, subject: 'events.catalog.API_DELETED', data: {} })))
  const message = await firstAfter(bus, of, 0)
  if (!message) throw new Error('the bus has no message')
  expect(await figures('gantry_consumer_lag_events')).toEqual([2])
  expect(await figures('gantry_consumer_lag_seconds')).toEqual([0])
  await consumer.handling(message, async () => {
    expect(await figures('gantry_consumer_lag_seconds')).toEqual([expect.closeTo(60, -1)])
    expect(consumer.bytes()).toBe(2)
  })
  await readModels.checkpoints.save('media.reactor', '1')
  expect(await figures('gantry_consumer_lag_events')).toEqual([1])
  expect(await figures('gantry_consumer_lag_seconds')).toEqual([0])
  await expect(consumer.handling(message, () => Promise.reject(new Error('away')))).rejects.toThrow()
  expect(await figures('gantry_consumer_lag_seconds')).toEqual([expect.closeTo(60, -1)])
  await bus.close()
})

test('a lease counts as held by the process that has it, until it ends or is released', async () => {
  const other = new Registry()
  const here = watchedLeases(registry, stores.readModels.leases)
  const there = watchedLeases(other, stores.readModels.leases)
  const lease = await here.acquire('catalog.projector catalog.apis@3', 'a', 5_000)
  await there.acquire('catalog.projector catalog.apis@3', 'b', 5_000)
  const shown = '# TYPE gantry_lease_held gauge\ngantry_lease_held{lease="catalog.projector"}'
  expect(await registry.getSingleMetricAsString('gantry_lease_held')).toContain(`${shown} 1`)
  expect(await other.getSingleMetricAsString('gantry_lease_held')).toContain(`${shown} 0`)
  if (lease) await here.release(lease)
  expect(await figures('gantry_lease_held')).toEqual([0])
})
