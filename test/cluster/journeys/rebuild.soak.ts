import { requestRebuild } from '@gantry/event-sourcing'
import { openStores } from '@gantry/hosting/stores'
import { inspectDatabase } from '@gantry/read-models-mongo/testing'
import { expect, test, vi } from 'vitest'
import { startLoad } from './support/load.ts'
import { runningTopology } from './support/running.ts'

const PROJECTORS = ['catalog', 'identity', 'media', 'notifier'].map(service => `${service}.projector`)
const REBUILT_MS = 60_000

const running = runningTopology()

test('a rebuild during reads and writes causes no failed request and no stale read', async () => {
  const { topology, receiver } = running()
  const load = startLoad(topology)
  const stores = openStores(topology.engines.urls)
  try {
    await vi.waitFor(() => expect(load.acknowledged).toBeGreaterThan(50), { timeout: 30_000 })
    const rebuilt = await Promise.all(
      PROJECTORS.map(name => requestRebuild(name, stores.readModels, 'the journey')),
    )
    for (const isDone of rebuilt)
      await vi.waitFor(async () => expect(await isDone()).toBe(true), { timeout: REBUILT_MS, interval: 200 })
  } finally {
    await stores.close()
  }
  await load.stop()
  expect(load.refusedWrites).toEqual([])
  expect(load.failedReads).toEqual([])
  expect(load.staleReads).toEqual([])
  await load.check(receiver)
})

test('dropped read models are rebuilt from the log without a restart', async ({ skip }) => {
  const { topology, receiver } = running()
  const { READ_MODEL_URL: url } = topology.engines.urls
  skip(!url.startsWith('mongodb'), 'no MongoDB to drop: the read models are in a file')
  const load = startLoad(topology)
  await vi.waitFor(() => expect(load.acknowledged).toBeGreaterThan(50), { timeout: 30_000 })
  const made = async () => (await topology.logged('makes the read models from the log')).length
  const before = await made()
  const database = inspectDatabase({ url })
  await database.drop()
  await database.close()
  await vi.waitFor(async () => expect(await made()).toBeGreaterThanOrEqual(before + PROJECTORS.length), {
    timeout: REBUILT_MS,
    interval: 100,
  })
  await vi.waitFor(async () => expect((await topology.send('/apis?size=1')).status).toBe(200), {
    timeout: REBUILT_MS,
  })
  const back = load.acknowledged
  await vi.waitFor(() => expect(load.acknowledged).toBeGreaterThan(back + 20), { timeout: 60_000 })
  await load.stop()
  await load.check(receiver)
})
