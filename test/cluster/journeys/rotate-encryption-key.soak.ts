import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { openStores } from '@gantry/hosting/stores'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startLoad } from './support/load.ts'
import { type Receiver, receiveFrom } from './support/receiver.ts'
import { startTopology, type Topology } from './support/topology.ts'

const COMMAND = join(import.meta.dirname, '../../../packages/operations/src/main.ts')
const SERVICES = ['catalog', 'identity', 'media', 'notifier']
const READY_MS = 30_000

const [old, next] = [randomBytes(32), randomBytes(32)].map(key => key.toString('base64'))
let key = old
let topology: Topology
let receiver: Receiver
beforeAll(async () => {
  topology = await startTopology({
    ownEnvironment: name => (name.startsWith('gateway') ? {} : { ENCRYPTION_KEY: key }),
  })
  receiver = await receiveFrom(topology, ['API_CREATED', 'API_UPDATED', 'API_DELETED'])
})
afterAll(async () => {
  await receiver?.stop()
  await topology?.stop()
})

/** Restarts every service with other keys, one replica after the other. */
async function rollOut(keys: string): Promise<void> {
  key = keys
  for (const number of [1, 2])
    await Promise.all(SERVICES.map(service => topology.replace(`${service}-${number}`)))
}

async function reseal(): Promise<string> {
  const { ENCRYPTION_KEY: _, ...environment } = topology.environment
  return (await promisify(execFile)(process.execPath, [COMMAND, 'reseal'], { env: environment })).stdout
}

test('ENCRYPTION_KEY is rotated while services run, without a failed request', async () => {
  const load = startLoad(topology, { writers: 2, readers: 2 })
  await vi.waitFor(() => expect(load.acknowledged).toBeGreaterThan(5), { timeout: READY_MS })
  await rollOut(`0:${old},1:${next}`)
  await rollOut(`1:${next},0:${old}`)
  expect(await reseal()).toMatch(/^All \d+ secrets are sealed with key 1\nNo longer in use: key 0\./)
  expect(await reseal()).toMatch(/No other key is in use\n$/)
  await rollOut(`1:${next}`)
  await load.stop()
  expect([load.refusedWrites, load.failedReads, load.staleReads]).toEqual([[], [], []])
  await load.check(receiver)

  const stores = openStores(topology.engines.urls)
  const events = await stores.eventStore.readStream('encryptionkey-fingerprint')
  await stores.close()
  expect(events.map(({ type, data }) => [type, data.id])).toEqual([
    ['EncryptionKeyChosen', undefined],
    ['EncryptionKeyChosen', '1'],
    ['EncryptionKeyRetired', '0'],
  ])
}, 280_000)
