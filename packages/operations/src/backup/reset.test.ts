import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteReadModels } from '@gantry/embedded'
import { expect, onTestFinished, test } from 'vitest'
import { whileStopped } from './reset.ts'

const NAMES = ['catalog.projector', 'catalog.relay']

test('a service that starts while the read models are dropped waits for its leases', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-reset-'))
  const readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
  onTestFinished(async () => {
    await readModels.close()
    rmSync(folder, { recursive: true })
  })
  const { leases } = readModels
  const start = () => Promise.all(NAMES.map(name => leases.acquire(name, 'a service', 60_000)))
  expect(await whileStopped(NAMES, readModels, start)).toEqual([undefined, undefined])
  expect(await start()).not.toContain(undefined)
})
