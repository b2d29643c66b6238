import { previousProjector, projectorKey } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/read-models'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStores, type Stores } from './support.ts'

const old = defineCollection<{ id: string }>({ name: 'lists.old', version: 1, fields: {} })
const key = projectorKey({ name: 'lists.projector', collections: [old] })
const log = { info() {}, warn() {}, error() {} }

let stores: Stores
let elapsed: number
beforeEach(async () => {
  stores = await openStores()
  elapsed = 0
})
afterEach(() => stores.close())

const previous = () => {
  const { readModels } = stores
  return previousProjector({ key, obsolete: [old], readModels, holder: 'new', log, elapsed: () => elapsed })
}

test('where the previous release never ran, it has ended', async () => {
  expect(await previous().ended()).toBe(true)
})

test('the previous release has ended when its lease was free for twenty seconds, and its documents are dropped', async () => {
  const { collection, checkpoints, leases } = stores.readModels
  await collection(old).put({ id: 'a' }, 0)
  const lease = await leases.acquire(key, 'old', 60_000)
  if (!lease) throw new Error('the lease is held')
  await checkpoints.save(key, '1', lease)
  const { ended } = previous()
  expect(await ended()).toBe(false)

  // Another replica of that release takes over after a moment.
  await leases.release(lease)
  expect(await ended()).toBe(false)
  elapsed = 19_000
  const next = await leases.acquire(key, 'old too', 60_000)
  if (!next) throw new Error('the lease is held')
  elapsed = 21_000
  expect(await ended()).toBe(false)
  expect(await collection(old).count({})).toBe(1)

  await leases.release(next)
  expect(await ended()).toBe(false)
  elapsed = 41_000
  expect(await ended()).toBe(true)
  expect(await collection(old).count({})).toBe(0)
  expect(await checkpoints.get(key)).toBeUndefined()
  expect(await previous().ended()).toBe(true)
})
