import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { scaledTimeout } from '../../bin/timeouts.mjs'
import { ROOT } from './src/files.ts'
import { PASSWORD, type Processes, startProcesses } from './src/processes.ts'

const PROGRAM = join(ROOT, 'packages/operations/src/main.ts')
const COMMAND = [PROGRAM, 'rebuild']

let folder: string
let processes: Processes
let authorization: string
const send = (path: string, init: RequestInit = {}) =>
  fetch(`${processes.urls.gateway}${path}`, {
    ...init,
    headers: { authorization, 'content-type': 'application/json' },
  })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-rebuild-'))
  processes = await startProcesses(folder)
  const login = { method: 'POST', body: JSON.stringify({ username: 'admin', password: PASSWORD }) }
  const answer = await fetch(`${processes.urls.gateway}/login`, {
    ...login,
    headers: { 'content-type': 'application/json' },
  })
  authorization = answer.headers.get('authorization') ?? ''
}, scaledTimeout(60_000))
afterAll(async () => {
  await processes.stop()
  await rm(folder, { recursive: true, force: true })
})

test(
  'the command makes running services rebuild lost documents',
  async () => {
    const body = JSON.stringify({ name: 'weather', displayName: 'Weather', status: 'ACTIVE', tags: [] })
    const created = await send('/apis', { method: 'POST', body })
    expect(created.status).toBe(201)
    const location = created.headers.get('location') ?? ''
    const before = await (await send(location)).json()

    forget(join(folder, 'read-models.db'), 'catalog.apis')
    expect((await send(location)).status).toBe(404)

    const { stdout } = await promisify(execFile)(process.execPath, COMMAND, { env: processes.environment })
    for (const name of ['catalog', 'identity', 'media', 'notifier'])
      expect(stdout).toMatch(new RegExp(`^${name}\\.projector: done after`, 'm'))
    expect(stdout).toMatch(/^identity\.audit: done after/m)
    expect(stdout).toMatch(/All read models are rebuilt\n$/)
    await vi.waitFor(async () => expect((await send(location)).status).toBe(200))
    expect(await (await send(location)).json()).toEqual(before)
  },
  scaledTimeout(60_000),
)

test('the command names a wrong setting', () => {
  const { READ_MODEL_URL: _, ...environment } = processes.environment
  const { status, stderr } = spawnSync(process.execPath, COMMAND, { env: environment, encoding: 'utf8' })
  expect([status, stderr]).toEqual([
    1,
    'gantry rebuild: READ_MODEL_URL: must be set: mongodb://host:27017/gantry\n',
  ])
})

test('the command names an unavailable backing store', () => {
  const environment = { ...processes.environment, READ_MODEL_URL: 'mongodb://127.0.0.1:1/gantry' }
  const { status, stderr } = spawnSync(process.execPath, COMMAND, { env: environment, encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toMatch(/^gantry rebuild: .*READ_MODEL_URL mongodb:\/\/127\.0\.0\.1:1\/gantry: .*\n$/)
})

/** Runs a command with the settings of the services. */
function run(...args: string[]) {
  const options = { env: processes.environment, encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], options)
  return { status, output: stdout + stderr }
}

test(
  'what is newer than a restored log is named, dropped when the services are stopped, and made again',
  async () => {
    const before = await readFile(join(folder, 'read-models.db'))
    expect(run('restore-check')).toEqual({
      status: 0,
      output: expect.stringMatching(/images fit to the log\n$/),
    })
    expect(run('reset', '--yes')).toEqual({
      status: 1,
      output: expect.stringMatching(
        /still running: catalog, identity, media, notifier; stop all services; nothing was changed\n$/,
      ),
    })
    expect((await readFile(join(folder, 'read-models.db'))).length).toBeGreaterThanOrEqual(before.length)
    const apis = async () => (await (await send('/apis')).json()) as { content: { name: string }[] }
    expect((await apis()).content).toHaveLength(1)

    await processes.stop()
    const log = new DatabaseSync(join(folder, 'events.db'))
    log.exec(
      "DELETE FROM events WHERE position >= (SELECT min(position) FROM events WHERE stream LIKE 'api-%')",
    )
    log.close()
    const check = run('restore-check')
    expect(check.output).toMatch(
      /^the read models of catalog\.projector are at position \d+, after the end of the log$/m,
    )
    expect(check.output).toMatch(/^catalog\.relay is at position \d+, after the end of the log$/m)
    expect(check.output).toMatch(
      /^message \d+ of the bus \(events\.catalog\.API_CREATED\) is about .* after the end/m,
    )
    expect(check.status).toBe(1)
    expect(run('reset', '--yes').status).toBe(0)

    processes = await startProcesses(folder)
    expect((await apis()).content).toEqual([])
  },
  scaledTimeout(120_000),
)

/** Deletes all documents of a collection. */
function forget(path: string, collection: string): void {
  const database = new DatabaseSync(path)
  const { number } = database.prepare('SELECT number FROM collections WHERE name = ?').get(collection) ?? {}
  const { changes } = database.prepare(`DELETE FROM documents_${number}`).run()
  database.close()
  if (changes === 0) throw new Error(`there was nothing in ${collection}`)
}
