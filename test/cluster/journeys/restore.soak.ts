import { execFile } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { openStores } from '@gantry/hosting/stores'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { imageForm } from './support/load.ts'
import { type Receiver, receiveFrom } from './support/receiver.ts'
import { startTopology, type Topology } from './support/topology.ts'

const COMMAND = join(import.meta.dirname, '../../../services/operations/src/main.ts')
const READY_MS = 120_000

let topology: Topology
let receiver: Receiver
beforeAll(async () => {
  topology = await startTopology()
  receiver = await receiveFrom(topology, ['API_CREATED'])
})
afterAll(async () => {
  await receiver?.stop()
  await topology?.stop()
})

/** Runs an operator's command with the settings of the services. */
const run = (settings: NodeJS.ProcessEnv, ...args: string[]) =>
  new Promise<{ code: number; output: string }>(resolve => {
    const env = { ...topology.environment, ...settings }
    execFile(process.execPath, [COMMAND, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code ?? 128) : 0, output: stdout + stderr }),
    )
  })

/** Clients that create APIs, each with an image, until they are stopped. */
function writeApis(prefix: string) {
  const ids: string[] = []
  let writing = true
  const write = async (client: number) => {
    for (let number = 0; writing; number++) {
      const name = `${prefix}-${client}-${number}`
      const api = { name, displayName: name, status: 'ACTIVE', tags: [] }
      const created = await topology.send('/apis', { method: 'POST', body: JSON.stringify(api) })
      expect(created.status).toBe(201)
      const { id } = (await created.json()) as { id: string }
      const image = await topology.send(`/apis/${id}/image`, { method: 'PUT', body: imageForm() })
      expect(image.status).toBe(200)
      ids.push(id)
    }
  }
  const clients = Promise.all([write(1), write(2)])
  return {
    ids,
    async stop() {
      writing = false
      await clients
    },
  }
}

const deliveredTo = (ids: readonly string[]) => ids.filter(id => receiver.arrived(id, 'API_CREATED').size > 0)

test('a log that is older than the other stores is restored with everything it has, and no delivery is repeated', async ({
  skip,
}) => {
  const { faults, urls } = topology.engines
  const data = dirname(topology.logFolder)
  const log = join(data, 'events', 'event-store-stand-in.sqlite')
  const images = join(data, 'backup-of-images')
  const { eventStore } = faults
  skip(!eventStore || !urls.READ_MODEL_URL.startsWith('mongodb'), 'needs a MongoDB, and the stand-in')
  if (!eventStore) return

  const early = writeApis('early')
  await vi.waitFor(() => expect(early.ids.length).toBeGreaterThan(20), { timeout: READY_MS })
  await early.stop()
  await vi.waitFor(() => expect(deliveredTo(early.ids)).toEqual(early.ids), { timeout: READY_MS })
  await vi.waitFor(async () => expect(await pendingDeliveries()).toBe(0), { timeout: READY_MS })

  // The backup of EventStoreDB, then that of the images, under load.
  const late = writeApis('late')
  await vi.waitFor(() => expect(late.ids.length).toBeGreaterThan(5), { timeout: READY_MS })
  const acknowledged = [...early.ids, ...late.ids]
  await mkdir(images)
  const source = new DatabaseSync(log, { readOnly: true })
  await backup(source, join(data, 'backup-of-log'))
  source.close()
  expect(await run({}, 'copy-images', `file:${images}`)).toMatchObject({ code: 0 })
  await vi.waitFor(() => expect(late.ids.length).toBeGreaterThan(30), { timeout: READY_MS })
  await late.stop()
  await vi.waitFor(() => expect(deliveredTo(late.ids)).toEqual(late.ids), { timeout: READY_MS })
  const requests = receiver.requests.length

  expect(await run({}, 'reset', '--yes')).toMatchObject({
    code: 1,
    output: expect.stringContaining('nothing was changed'),
  })
  await Promise.all(topology.processes.map(process => process.stop()))
  // The disaster: the log and the bytes of the images are lost.
  await eventStore.kill()
  for (const suffix of ['', '-wal', '-shm']) await rm(log + suffix, { force: true })
  const lost = new DatabaseSync(join(data, 'backup-of-log'))
  await backup(lost, log)
  lost.close()
  await eventStore.restart()
  const stores = openStores(urls)
  const blobs = stores.blobs({})
  for await (const key of blobs.keys()) await blobs.delete(key)
  await blobs.close()
  await stores.close()

  const found = await run({}, 'restore-check')
  expect(found.code).toBe(1)
  expect(found.output).toMatch(
    /^the read models of catalog\.projector are at position .* after the end of the log$/m,
  )
  expect(found.output).toMatch(
    /^message \d+ of the bus \(events\.catalog\.API_\w+\) .* after the end of the log$/m,
  )
  expect(found.output).toMatch(/^the bytes \w+ of an image or document are missing$/m)
  const restored = await run({ BLOB_URL: `file:${images}` }, 'copy-images', urls.READ_MODEL_URL)
  expect(restored).toMatchObject({ code: 0, output: expect.stringMatching(/^1 images copied/) })
  expect(await run({}, 'reset', '--yes')).toMatchObject({ code: 0 })
  expect(await run({}, 'restore-check')).toEqual({
    code: 0,
    output: expect.stringMatching(/messages, images and documents fit to the log\n$/),
  })

  await Promise.all(topology.processes.map(({ name }) => topology.replace(name)))
  const bytes = await (imageForm().get('file') as File).bytes()
  for (const id of acknowledged) {
    const answer = await topology.send(`/apis/${id}`)
    expect([id, answer.status, await answer.json()]).toEqual([
      id,
      200,
      expect.objectContaining({ hasImage: true }),
    ])
    const image = await topology.send(`/apis/${id}/image`)
    expect([image.status, await image.bytes()]).toEqual([200, bytes])
  }
  const after = writeApis('after')
  await vi.waitFor(() => expect(after.ids.length).toBeGreaterThan(5), { timeout: READY_MS })
  await after.stop()
  await vi.waitFor(() => expect(deliveredTo(after.ids)).toEqual(after.ids), { timeout: READY_MS })
  await vi.waitFor(async () => expect(await pendingDeliveries()).toBe(0), { timeout: READY_MS })

  // Deliveries that had ended in the backup are not sent again; others have the same id.
  const repeated = receiver.requests.slice(requests).filter(({ api }) => !after.ids.includes(api))
  expect(repeated.filter(({ api }) => early.ids.includes(api))).toEqual([])
  const idsOf = (api: string) => new Set(receiver.requests.filter(one => one.api === api).map(({ id }) => id))
  for (const { api } of repeated) expect([api, idsOf(api).size]).toEqual([api, 1])
  expect(await topology.faults()).toEqual([])
  process.stderr.write(
    `restored ${acknowledged.length} acknowledged APIs; ${repeated.length} of ${requests} deliveries were repeated\n`,
  )
}, 900_000)

/** The largest number of pending deliveries that a notifier reports. */
async function pendingDeliveries(): Promise<number> {
  const counts = topology.processes
    .filter(({ name }) => name.startsWith('notifier'))
    .map(async ({ internalPort }) => {
      const metrics = await (await fetch(`http://127.0.0.1:${internalPort}/metrics`)).text()
      return Number(/^gantry_webhook_deliveries_pending\S* (\d+)$/m.exec(metrics)?.[1])
    })
  return Math.max(...(await Promise.all(counts)))
}
