import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'

const SETTINGS = {
  BODY_MEMORY: '32MiB',
  LOGIN_LIMIT_PER_MINUTE: '0',
  NODE_OPTIONS: '--max-old-space-size=256',
}
const MEBIBYTE = 1_048_576
const PASSWORD = 'a password for tests'
const JSON_TYPE = 'application/json'
const JPEG = Buffer.from([0xff, 0xd8, 0xff])
const LOGO = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

let folder: string
let service: ServiceProcess
let api: string
let attackers: Attacker[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-unfinished-'))
  service = await startServiceProcess(folder, SETTINGS)
  api = (await createApi('attacked')).id
})
afterEach(() => {
  for (const attacker of attackers) attacker.leave()
  attackers = []
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true })
})

/** A request whose body never ends. */
class Attacker {
  answer = ''
  gone = false
  readonly #socket: Socket

  constructor(method: string, path: string, authorization: string, type: string) {
    const { hostname, port } = new URL(service.url)
    this.#socket = connect(Number(port), hostname)
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      this.gone = true
    })
    this.#socket.on('data', data => {
      this.answer += data.toString('latin1')
    })
    this.#socket.write(
      `${method} ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    attackers.push(this)
  }

  get status(): string {
    return this.answer.slice(9, 12)
  }

  /** Resolves when the bytes are written, or when the connection is closed. */
  send(bytes: Buffer): Promise<void> {
    this.#socket.write(`${bytes.length.toString(16)}\r\n`)
    this.#socket.write(bytes)
    return new Promise(resolve => this.#socket.write('\r\n', () => resolve()))
  }

  leave(): void {
    this.#socket.destroy()
  }
}

const call = (method: string, path: string, body?: unknown, authorization = service.authorization) =>
  fetch(`${service.url}${path}`, {
    method,
    headers: { authorization, ...(body !== undefined && { 'content-type': JSON_TYPE }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
const createApi = async (name: string) => {
  const answer = await call('POST', '/apis', { name, displayName: name, status: 'ACTIVE', tags: [] })
  expect(answer.status).toBe(201)
  return (await answer.json()) as { id: string }
}
const newUser = async (username: string, role: string) => {
  expect((await call('POST', '/users', { username, role, password: PASSWORD })).status).toBe(201)
  const answer = await call('POST', '/login', { username, password: PASSWORD }, '')
  return answer.headers.get('authorization') ?? ''
}
const upload = async (image: Buffer) => {
  const form = new FormData()
  form.append('file', new Blob([image]), 'a.png')
  const headers = { authorization: service.authorization }
  return fetch(`${service.url}/apis/${api}/image`, { method: 'PUT', headers, body: form })
}
const metric = async (name: string) => {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  return Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(text)?.[1])
}
const residentMebibytes = async () => (await metric('process_resident_memory_bytes')) / MEBIBYTE
const imageStart = Buffer.concat([
  Buffer.from('--edge\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n'),
  JPEG,
  Buffer.alloc(1_500_000, 0xff),
])
const uploads = (count: number, authorization: string) =>
  Array.from(
    { length: count },
    () => new Attacker('PUT', `/apis/${api}/image`, authorization, 'multipart/form-data; boundary=edge'),
  )
const incomplete = () => readdir(join(folder, 'images', '.incomplete')).catch(() => [])

test('1,000 unfinished requests do not affect memory or other callers', { timeout: 60_000 }, async () => {
  const stranger = await newUser('stranger', 'NO_ACCESS')
  const writer = await newUser('writer', 'GLOBAL_ADMIN')
  const logouts = Array.from({ length: 500 }, () => new Attacker('POST', '/logout', stranger, JSON_TYPE))
  const events = Array.from({ length: 350 }, () => new Attacker('POST', '/events', writer, JSON_TYPE))
  const images = uploads(150, writer)
  const json = Buffer.alloc(600_000, ' ')
  await Promise.all([
    ...[...logouts, ...events].map(attacker => attacker.send(json)),
    ...images.map(attacker => attacker.send(imageStart)),
  ])

  let most = 0
  const others = async (turn: number) => {
    expect((await fetch(`${service.url}/health/ready`)).status).toBe(200)
    expect((await call('GET', '/apis')).status).toBe(200)
    await createApi(`beside-${turn}`)
    expect((await upload(LOGO)).status).toBe(200)
    most = Math.max(most, await residentMebibytes())
    expect(await metric('gantry_request_body_bytes')).toBeLessThanOrEqual(9 * MEBIBYTE)
  }
  const refusedEvents = () => events.filter(({ status }) => status === '503')
  let turn = 0
  while (turn < 8 || refusedEvents().length < 300) await others(turn++)
  // The bodies alone would be 750.
  expect(most).toBeLessThan(450)
  await vi.waitFor(() => expect(logouts.map(({ status }) => status)).toEqual(Array(500).fill('413')), 10_000)
  for (const { answer } of refusedEvents()) {
    expect(answer).toMatch(/\r\nretry-after: \d+\r\n/)
    expect(answer).toContain('"code":"body-memory-full"')
  }
})

test('bodies beyond the memory limit get 503, and are accepted again once others are gone', {
  timeout: 60_000,
}, async () => {
  const begun = Buffer.alloc(900_000, ' ')
  for (let user = 0; user < 5; user++) {
    const authorization = await newUser(`crowd-${user}`, 'GLOBAL_ADMIN')
    const crowd = Array.from({ length: 20 }, () => new Attacker('POST', '/events', authorization, JSON_TYPE))
    await Promise.all(crowd.map(attacker => attacker.send(begun)))
  }
  await vi.waitFor(
    async () => expect(await metric('gantry_request_body_bytes')).toBeGreaterThan(28 * MEBIBYTE),
    10_000,
  )
  const large = Buffer.concat([JPEG, Buffer.alloc(4 * MEBIBYTE, 0xff)])
  const answer = await upload(large)
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
  expect((await call('GET', '/apis')).status).toBe(200)
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(200)

  for (const attacker of attackers) attacker.leave()
  await vi.waitFor(async () => expect(await metric('gantry_request_body_bytes')).toBe(0), 10_000)
  expect((await upload(LOGO)).status).toBe(200)
  expect((await upload(large)).status).toBe(400)
})

test('an upload that breaks off leaves no file', async () => {
  const broken = uploads(20, service.authorization)
  await Promise.all(broken.map(attacker => attacker.send(imageStart)))
  await vi.waitFor(async () => expect(await incomplete()).toHaveLength(20), 10_000)
  for (const attacker of broken) attacker.leave()
  await vi.waitFor(async () => expect(await incomplete()).toEqual([]), 10_000)
  expect(await metric('gantry_request_body_bytes')).toBe(0)
})

test('a start removes files of unfinished uploads that are older than an hour', async () => {
  const cut = uploads(3, service.authorization)
  await Promise.all(cut.map(attacker => attacker.send(imageStart)))
  await vi.waitFor(async () => expect(await incomplete()).toHaveLength(3), 10_000)
  await service.kill()
  const left = await incomplete()
  expect(left).toHaveLength(3)
  const hourAgo = new Date(Date.now() - 3_700_000)
  for (const draft of left) await utimes(join(folder, 'images', '.incomplete', draft), hourAgo, hourAgo)
  service = await startServiceProcess(folder, SETTINGS)
  const large = Buffer.concat([LOGO, Buffer.alloc(200_000)])
  expect((await upload(large)).status).toBe(200)
  const stored = await call('GET', `/apis/${api}/image`)
  expect(Buffer.from(await stored.arrayBuffer()).equals(large)).toBe(true)
  expect(await incomplete()).toEqual([])
})
