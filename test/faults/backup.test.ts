import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { runCommand, runServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { scaledTimeout } from '../../bin/timeouts.mjs'

const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"></svg>'
const FINAL = ['AttemptSucceeded', 'DeliveryGaveUp', 'DeliveryCancelled']

let folder: string
let backup: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-backup-'))
  backup = join(folder, 'backup')
})
afterAll(() => rm(folder, { recursive: true }))

/** Runs a command on a data folder. */
const run = (dataDir: string, ...args: string[]) => runCommand(args, { DATA_DIR: join(folder, dataDir) })

/** The deliveries of a log by id, and whether they have ended. */
function deliveriesIn(log: string): Map<string, boolean> {
  const database = new DatabaseSync(log, { readOnly: true })
  const rows = database
    .prepare("SELECT stream, type FROM events WHERE stream LIKE 'delivery-%' ORDER BY position")
    .all()
  database.close()
  return new Map(rows.map(({ stream, type }) => [String(stream).slice(9), FINAL.includes(String(type))]))
}

/** A receiver that refuses the requests to /refusing until `accepts` is set. */
async function receiver() {
  const received: { id: string; delivery: string }[] = []
  const state = { accepts: false }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const event = `${request.url} ${JSON.parse(body).id}`
    received.push({ id: String(request.headers['webhook-id']), delivery: event })
    response.writeHead(request.url === '/refusing' && !state.accepts ? 500 : 204).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { received, state, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test(
  'a backup under load restores every acknowledged write and repeats no final delivery',
  async () => {
    const { received, state, server, url } = await receiver()
    // An attempt whose outcome is not in the backup counts as lost some time after its timeout.
    const settings = { WEBHOOK_TIMEOUT: '2s', WEBHOOK_RETRY_SCHEDULE: Array(20).fill('1s').join() }
    const service = await startServiceProcess(join(folder, 'data'), settings)
    const { authorization } = service
    const post = async (path: string, body: object) => {
      const headers = { authorization, 'content-type': 'application/json' }
      const answer = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      return (answer.status === 201 ? await answer.json() : {}) as { id?: string }
    }
    for (const path of ['/accepting', '/refusing'])
      await post('/webhooks', {
        displayName: path,
        url: url + path,
        active: true,
        eventTypes: ['API_CREATED'],
      })

    const acknowledged: string[] = []
    let writing = true
    const write = async (writer: number) => {
      for (let number = 0; writing; number++) {
        const name = `api-${writer}-${number}`
        const api = { name, displayName: name, status: 'ACTIVE', tags: [] }
        if ((await post('/apis', api).catch(() => ({ id: undefined }))).id) acknowledged.push(name)
      }
    }
    const { id } = await post('/apis', {
      name: 'pictured',
      displayName: 'Pictured',
      status: 'ACTIVE',
      tags: [],
    })
    const form = new FormData()
    form.set('file', new Blob([SVG], { type: 'image/svg+xml' }), 'image.svg')
    const image = { method: 'PUT', headers: { authorization }, body: form }
    expect((await fetch(`${service.url}/apis/${id}/image`, image)).status).toBe(200)
    const writers = [write(1), write(2)]
    await vi.waitFor(() => expect(received.length).toBeGreaterThan(100), scaledTimeout(10_000))

    const before = [...acknowledged]
    const taken = await run('data', 'backup', backup)
    expect([taken.code, taken.output]).toEqual([0, expect.stringContaining('It contains encryption.key')])
    expect(acknowledged.length).toBeGreaterThan(before.length)
    writing = false
    await Promise.all(writers)
    await service.kill()
    await rm(join(folder, 'data'), { recursive: true })

    const deliveries = deliveriesIn(join(backup, 'events.db'))
    const final = [...deliveries].flatMap(([delivery, isFinal]) => (isFinal ? [delivery] : []))
    const pending = [...deliveries.keys()].filter(delivery => !final.includes(delivery))
    expect([final.length, pending.length]).not.toContain(0)
    const idBefore = new Map(received.map(({ id, delivery }) => [delivery, id]))
    received.length = 0
    state.accepts = true

    const restored = await run('restored', 'restore', backup)
    expect([restored.code, restored.output]).toEqual([0, expect.stringMatching(/^.*Restored [\d,]+ events/m)])
    const again = await startServiceProcess(join(folder, 'restored'), settings)
    const get = async (path: string) => fetch(again.url + path, { headers: { authorization } })
    const names = new Set<string>()
    for (let page = 1, last = false; !last; page++) {
      const list = (await (await get(`/apis?size=100&page=${page}`)).json()) as {
        content: { name: string }[]
        last: boolean
      }
      for (const { name } of list.content) names.add(name)
      last = list.last
    }
    expect(before.filter(name => !names.has(name))).toEqual([])
    expect(await (await get(`/apis/${id}/image`)).text()).toBe(SVG)

    await vi.waitFor(
      () => expect(pending.filter(delivery => !received.some(({ id }) => id === delivery))).toEqual([]),
      scaledTimeout(30_000),
    )
    expect(received.filter(({ id }) => final.includes(id))).toEqual([])
    expect(received.filter(({ id, delivery }) => (idBefore.get(delivery) ?? id) !== id)).toEqual([])
    expect(await again.stop()).toBe(0)
    server.close()
  },
  scaledTimeout(90_000),
)

test('the service does not start on an interrupted restore, which another one completes', async () => {
  if (!existsSync(join(folder, 'restored'))) {
    // The first test has not run.
    await (await startServiceProcess(join(folder, 'data'))).stop()
    expect((await run('data', 'backup', backup)).code).toBe(0)
    expect((await run('restored', 'restore', backup)).code).toBe(0)
  }
  const half = join(folder, 'half')
  // As a kill between the two last moves leaves it.
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
  expect(await readFile(join(half, 'events.db'))).toEqual(await readFile(join(backup, 'events.db')))
})
