import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@gantry/engines'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

/** A cold machine starts nine processes, and may have to install the bus before. */
const START_MS = 300_000
const MAIN = join(import.meta.dirname, 'src/main.ts')

let folder: string
let port: number
let child: ChildProcess
let output = ''
let authorization: string
let url: string

/** Pid and port of every process, by name, as the table says. */
const processes = () =>
  new Map(
    [...output.matchAll(/^ {2}(gateway|\w+-\d) +(\d+) +(\d+) +ready$/gm)].map(([, name, pid, at]) => [
      name ?? '',
      { pid: Number(pid), url: `http://127.0.0.1:${at}` },
    ]),
  )

const send = (path: string, init: RequestInit = {}) =>
  fetch(`${url}${path}`, {
    ...init,
    headers: { authorization, 'content-type': 'application/json', ...init.headers },
  })
const named = (name: string) => ({
  method: 'POST',
  body: JSON.stringify({ name, displayName: name, status: 'ACTIVE', tags: [] }),
})

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-cluster-'))
  port = await freePort()
  child = spawn(process.execPath, [MAIN, '--replicas', '2'], {
    env: { ...process.env, DATA_DIR: folder, PORT: String(port), LOGIN_LIMIT_PER_MINUTE: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
  await vi.waitFor(
    () => {
      if (child.exitCode !== null) return
      expect(output).toContain('The gateway answers at')
    },
    { timeout: START_MS, interval: 100 },
  )
  expect(child.exitCode, output).toBe(null)
  url = `http://127.0.0.1:${port}`
  const password = /password {2,}(\S+)/.exec(output)?.[1]
  const answer = await fetch(`${url}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'admin', password }),
  })
  authorization = answer.headers.get('authorization') ?? ''
  expect(authorization, await answer.text()).toMatch(/^Bearer /)
}, START_MS + 10_000)

afterAll(async () => {
  if (child.exitCode === null) {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  await rm(folder, { recursive: true, force: true })
})

test('says which engine is real and which stands in, and shows every process', () => {
  expect(output).toMatch(/event log +(stands in for|real: )/)
  expect(output).toMatch(/bus +(stands in for|real: )/)
  expect([...processes().keys()].sort()).toEqual([
    ...['catalog-1', 'catalog-2', 'gateway', 'identity-1', 'identity-2'],
    ...['media-1', 'media-2', 'notifier-1', 'notifier-2'],
  ])
})

test('what was written is read at once, whichever replica answers', async () => {
  for (let i = 0; i < 20; i++) {
    const created = await send('/apis', named(`read at once ${i}`))
    expect(created.status, await created.clone().text()).toBe(201)
    const location = created.headers.get('location') ?? ''
    for (let reads = 0; reads < 2; reads++) expect((await send(location)).status).toBe(200)
    const list = (await (await send('/apis?size=1')).json()) as { totalElements: number }
    expect(list.totalElements).toBe(i + 1)
  }
})

describe('a service asked past the gateway', () => {
  test.for([
    ['with nothing', {}],
    ['with the token of a user', { withToken: true }],
    ['with a principal of his own making', { principal: 'eyJhbGciOiJub25lIn0.e30.' }],
  ] as const)(
    '%s refuses',
    async ([, { withToken, principal }]: readonly [string, { withToken?: boolean; principal?: string }]) => {
      const answer = await fetch(`${processes().get('catalog-1')?.url}/apis`, {
        headers: {
          ...(withToken && { authorization }),
          ...(principal && { 'x-gantry-principal': principal }),
        },
      })
      expect(answer.status).toBe(401)
    },
  )
})

test('kill -9 of a replica fails no read, and it comes back', async () => {
  const { pid = 0, url: killed } = processes().get('catalog-1') ?? {}
  process.kill(pid, 'SIGKILL')
  for (let i = 0; i < 50; i++) expect((await send('/apis?size=1')).status).toBe(200)
  await vi.waitFor(() => expect(output).toMatch(/catalog-1 is ready again/), { timeout: 30_000 })
  expect((await fetch(`${killed}/health/ready`)).status).toBe(200)
}, 60_000)

test('SIGTERM of a replica fails no request at all', async () => {
  const { pid = 0 } = processes().get('catalog-2') ?? {}
  process.kill(pid, 'SIGTERM')
  for (let i = 0; !output.includes('catalog-2 is ready again'); i++) {
    expect((await send('/apis', named(`rolling ${i}`))).status).toBe(201)
    expect((await send('/apis?size=1')).status).toBe(200)
  }
  const log = await readFile(join(folder, 'logs', 'catalog-2.log'), 'utf8')
  expect(log).toContain('"stopped"')
}, 60_000)

test('stops all of it when asked, and ends with 0', async () => {
  const running = [...processes()].map(([, { pid }]) => pid)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(running.filter(isAlive)).toEqual([])
}, 60_000)

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
