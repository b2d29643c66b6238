import { sqliteReadModels } from '@gantry/embedded'
import { expect, onTestFinished, test } from 'vitest'
import { whileStopped } from './reset.ts'

const NAMES = ['catalog.projector', 'catalog.relay']

test('a service that starts while the read models are dropped waits for its leases', async () => {
  const readModels = sqliteReadModels({ path: ':memory:' })
  onTestFinished(() => readModels.close())
  const { leases } = readModels
  const start = () => Promise.all(NAMES.map(name => leases.acquire(name, 'a service', 60_000)))
  expect(await whileStopped(NAMES, readModels, start)).toEqual([undefined, undefined])
  expect(await start()).not.toContain(undefined)
})
