import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { runCommand, runServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { expect, test, vi } from 'vitest'
import {
  allApis,
  apiNamed,
  call,
  createApi,
  createWebhook,
  newFolder,
  startReceiver,
  uploadImage,
} from './src/service.ts'

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>'
const FINAL = ['AttemptSucceeded', 'DeliveryGaveUp', 'DeliveryCancelled']

const folder = newFolder()
const backup = join(folder, 'backup')

/** Runs a command on a data folder. */
const run = (dataDir: string, ...args: string[]) => runCommand(args, { DATA_DIR: join(folder, dataDir) })

function eventsIn(log: string) {
  const database = new DatabaseSync(log, { readOnly: true })
  const rows = database.prepare('SELECT * FROM events ORDER BY position').all()
  database.close()
  return rows
}

/** The ids of the deliveries in a log that have ended, and of the others. */
function deliveriesIn(log: string): { final: string[]; pending: string[] } {
  const rows = eventsIn(log).filter(({ stream }) => String(stream).startsWith('delivery-'))
  const last = new Map(
    rows.map(({ stream, type }) => [String(stream).slice(9), FINAL.includes(String(type))]),
  )
  const { final = [], pending = [] } = Object.groupBy(last.keys(), id => (last.get(id) ? 'final' : 'pending'))
  return { final, pending }
}

test('a backup under load restores every acknowledged write and repeats no final delivery', async () => {
  let accepts = false
  const receiver = await startReceiver(({ path }) => (path === '/refusing' && !accepts ? 500 : 204))
  const received = () =>
    receiver.received.map(({ path, headers, body }) => ({
      id: String(headers['webhook-id']),
      delivery: `${path} ${JSON.parse(body).id}`,
    }))
  // An attempt whose outcome is not in the backup counts as lost some time after its timeout.
  const settings = { WEBHOOK_TIMEOUT: '2s', WEBHOOK_RETRY_SCHEDULE: Array(20).fill('1s').join() }
  const service = await startServiceProcess(join(folder, 'data'), settings)
  for (const path of ['/accepting', '/refusing']) await createWebhook(service, receiver.url + path)
  const id = await createApi(service, 'pictured')
  expect((await uploadImage(service, id, new Blob([SVG], { type: 'image/svg+xml' }))).status).toBe(200)

  const acknowledged: string[] = []
  let writing = true
  const write = async (writer: number) => {
    for (let number = 0; writing; number++) {
      const api = apiNamed(`api-${writer}-${number}`)
      if ((await call(service, 'POST', '/apis', api)).status === 201) acknowledged.push(api.name)
    }
  }
  const writers = [write(1), write(2)]
  await vi.waitFor(() => expect(received().length).toBeGreaterThan(50))
  const before = [...acknowledged]
  const taken = await run('data', 'backup', backup)
  expect([taken.code, taken.output]).toEqual([0, expect.stringContaining('It contains encryption.key')])
  expect(acknowledged.length).toBeGreaterThan(before.length)
  writing = false
  await Promise.all(writers)
  const { body: read } = await call<{ position: string }>(service, 'GET', '/events?size=1000')
  await service.kill()
  await rm(join(folder, 'data'), { recursive: true })

  const { final, pending } = deliveriesIn(join(backup, 'events.db'))
  expect([final.length, pending.length]).not.toContain(0)
  const idBefore = new Map(received().map(({ id, delivery }) => [delivery, id]))
  receiver.received.length = 0
  accepts = true

  const restored = await run('restored', 'restore', backup)
  expect([restored.code, restored.output]).toEqual([0, expect.stringMatching(/^.*Restored [\d,]+ events/m)])
  const again = await startServiceProcess(join(folder, 'restored'), settings)
  const names = new Set((await allApis(again)).map(({ name }) => name))
  expect(before.filter(name => !names.has(name))).toEqual([])
  expect((await call(again, 'GET', `/apis/${id}/image`)).body).toBe(SVG)
  // The restored log grows past the events of the other one that are lost.
  for (let number = 0; number < acknowledged.length; number++) await createApi(again, `later-${number}`)
  expect(await call(again, 'GET', `/events?after=${read.position}`)).toMatchObject({
    status: 409,
    body: { code: 'log-replaced' },
  })

  await vi.waitFor(() => {
    const ids = new Set(received().map(({ id }) => id))
    expect(pending.filter(delivery => !ids.has(delivery))).toEqual([])
  })
  expect(received().filter(({ id }) => final.includes(id))).toEqual([])
  expect(received().filter(({ id, delivery }) => (idBefore.get(delivery) ?? id) !== id)).toEqual([])
  expect(await again.stop()).toBe(0)
})

test('the service does not start on an interrupted restore, which another one completes', async () => {
  const half = join(folder, 'half')
  // As a kill between the two last moves leaves it. The folder was restored by the test above.
  await cp(join(folder, 'restored'), half, { recursive: true })
  await mkdir(join(half, '.restoring'))
  await rename(join(half, 'gantry.json'), join(half, '.restoring/gantry.json'))
  for (const name of await readdir(half)) if (/read-models|messages/.test(name)) await rm(join(half, name))
  const { code, output } = await runServiceProcess({ DATA_DIR: half, PORT: '0' })
  expect([code, output]).toEqual([
    1,
    expect.stringMatching(/half is being restored; if .* interrupted, run it again/),
  ])
  expect((await run('half', 'restore', backup)).code).toBe(0)
  expect(await readdir(half)).not.toContain('.restoring')
  // The restored log has a new identity after its events.
  expect(eventsIn(join(half, 'events.db')).slice(0, -1)).toEqual(eventsIn(join(backup, 'events.db')))
})
