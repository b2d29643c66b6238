import { previousProjector, projectorKey, START } from '@gantry/event-sourcing'
import { defineCollection, type ReadModels } from '@gantry/read-models'
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

const previous = (readModels: Pick<ReadModels, 'checkpoints' | 'leases' | 'drop'> = stores.readModels) =>
  previousProjector({ key, obsolete: [old], readModels, holder: 'new', log, elapsed: () => elapsed })

test('where the previous release never ran, it has ended', async () => {
  expect(await previous().ended()).toBe(true)
})

test('the previous release has ended when its lease was free for twenty seconds, and its documents are dropped', async () => {
  const { collection, checkpoints, leases } = stores.readModels
  await collection(old).put({ id: 'a' }, 0)
  const lease = await leases.acquire(key, 'old', 60_000)
  if (!lease) throw new Error('the lease is held')
  await checkpoints.save(key, '1', lease)
  const { check, ended } = previous()
  expect(await check()).toBe(false)

  // Another replica of that release takes over after a moment.
  await leases.release(lease)
  expect(await check()).toBe(false)
  elapsed = 19_000
  const next = await leases.acquire(key, 'old too', 60_000)
  if (!next) throw new Error('the lease is held')
  elapsed = 21_000
  expect(await check()).toBe(false)
  expect(await collection(old).count({})).toBe(1)

  await leases.release(next)
  expect(await check()).toBe(false)
  elapsed = 41_000
  expect(await check()).toBe(true)
  expect(await ended()).toBe(true)
  expect(await collection(old).count({})).toBe(0)
  expect(await checkpoints.get(key)).toBeUndefined()
  expect(await previous().ended()).toBe(true)
})

test('an append does not look at the lease, and a rollback after a crash during the deletion projects the whole log', async () => {
  const { collection, checkpoints, leases } = stores.readModels
  await collection(old).put({ id: 'a' }, 0)
  await checkpoints.save(key, '1')
  let acquired = 0
  const readModels = {
    ...stores.readModels,
    leases: {
      ...leases,
      acquire: (...given: Parameters<typeof leases.acquire>) => {
        acquired++
        return leases.acquire(...given)
      },
    },
    drop: () => Promise.reject(new Error('the process dies')),
  }
  const { check, ended } = previous(readModels)
  expect([await ended(), acquired]).toEqual([false, 0])
  await check()
  elapsed = 21_000
  await expect(check()).rejects.toThrow('the process dies')
  expect([await ended(), await checkpoints.get(key)]).toEqual([false, START])
  const next = previous()
  await next.check()
  elapsed = 42_000
  expect(await next.check()).toBe(true)
  expect(await collection(old).count({})).toBe(0)
})
