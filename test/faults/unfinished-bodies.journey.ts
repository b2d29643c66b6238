import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { call, createApi, metric, newFolder, uploadImage } from './src/service.ts'

const SETTINGS = {
  BODY_MEMORY: '32MiB',
  RESPONSE_MEMORY: '32MiB',
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

const folder = newFolder()
let service: ServiceProcess
let api: string
let attackers: Attacker[] = []

beforeAll(async () => {
  service = await startServiceProcess(folder, SETTINGS)
  api = await createApi(service, 'attacked')
})
afterEach(() => {
  for (const attacker of attackers) attacker.leave()
  attackers = []
})
afterAll(() => service.stop())

/** A request whose body never ends. */
class Attacker {
  answer = ''
  readonly #socket: Socket

  constructor(method: string, path: string, authorization: string, type: string) {
    const { hostname, port } = new URL(service.url)
    this.#socket = connect(Number(port), hostname)
    this.#socket.on('error', () => {})
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

/** Opens requests that send the beginning of a body. */
async function attack(count: number, target: string, authorization: string, begin: Buffer, type = JSON_TYPE) {
  const [method = '', path = ''] = target.split(' ')
  const all = Array.from({ length: count }, () => new Attacker(method, path, authorization, type))
  await Promise.all(all.map(attacker => attacker.send(begin)))
  return all
}
const startUploads = (count: number, authorization: string) =>
  attack(count, `PUT /apis/${api}/image`, authorization, imageStart, 'multipart/form-data; boundary=edge')
const imageStart = Buffer.concat([
  Buffer.from('--edge\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n'),
  JPEG,
  Buffer.alloc(1_500_000, 0xff),
])
/** @returns the Authorization header of a new user */
async function newUser(username: string, role: string) {
  expect((await call(service, 'POST', '/users', { username, role, password: PASSWORD })).status).toBe(201)
  const answer = await call({ ...service, authorization: '' }, 'POST', '/login', {
    username,
    password: PASSWORD,
  })
  return answer.headers.get('authorization') ?? ''
}
const upload = (image: Buffer) => uploadImage(service, api, new Blob([image]))
const bodyBytes = () => metric(service, 'gantry_request_body_bytes')
const incomplete = () => readdir(join(folder, 'images', '.incomplete')).catch(() => [])

/** The service serves others: administrators read and write, and the health check is good. */
let turn = 0
async function servesOthers() {
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(200)
  expect((await call(service, 'GET', '/apis')).status).toBe(200)
  await createApi(service, `beside-${turn++}`)
  expect((await upload(LOGO)).status).toBe(200)
}

test('500 unfinished requests do not affect memory or other callers', async () => {
  const stranger = await newUser('stranger', 'NO_ACCESS')
  const writer = await newUser('writer', 'GLOBAL_ADMIN')
  const before = await metric(service, 'process_resident_memory_bytes')
  const json = Buffer.alloc(600_000, ' ')
  const [logouts, events] = await Promise.all([
    attack(250, 'POST /logout', stranger, json),
    attack(175, 'POST /events', writer, json),
    startUploads(75, writer),
  ])
  const refused = () => events.filter(({ status }) => status === '429')
  // A caller has at most a quarter of the memory for bodies, and a body arrives in chunks.
  await vi.waitFor(async () => {
    await servesOthers()
    expect(await bodyBytes()).toBeLessThanOrEqual(9 * MEBIBYTE)
    expect(refused().length).toBeGreaterThan(140)
    expect(logouts.filter(({ status }) => status !== '413')).toEqual([])
  })
  // The bodies alone are 370 MB.
  expect((await metric(service, 'process_resident_memory_bytes')) - before).toBeLessThan(200 * MEBIBYTE)
  for (const { answer } of refused()) {
    expect(answer).toMatch(/\r\nretry-after: \d+\r\n/)
    expect(answer).toContain('"code":"too-many-requests"')
  }
})

test('bodies beyond the memory limit get 503, and are accepted again once others are gone', async () => {
  const begun = Buffer.alloc(900_000, ' ')
  for (let user = 0; user < 5; user++)
    await attack(20, 'POST /events', await newUser(`crowd-${user}`, 'GLOBAL_ADMIN'), begun)
  await vi.waitFor(async () => expect(await bodyBytes()).toBeGreaterThan(28 * MEBIBYTE))
  const large = Buffer.concat([JPEG, Buffer.alloc(4 * MEBIBYTE, 0xff)])
  const answer = await upload(large)
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2'])
  expect((await call(service, 'GET', '/apis')).status).toBe(200)
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(200)

  for (const attacker of attackers) attacker.leave()
  await vi.waitFor(async () => expect(await bodyBytes()).toBe(0))
  await servesOthers()
  expect((await upload(large)).status).toBe(400)
})

test('an upload that breaks off leaves no file', async () => {
  const broken = await startUploads(20, service.authorization)
  await vi.waitFor(async () => expect(await incomplete()).toHaveLength(20))
  for (const attacker of broken) attacker.leave()
  await vi.waitFor(async () => expect(await incomplete()).toEqual([]))
  expect(await bodyBytes()).toBe(0)
})

test('responses that are not read do not affect memory or other callers', async () => {
  const reader = await newUser('reader', 'GLOBAL_ADMIN')
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><desc>${'x'.repeat(4_000_000)}</desc></svg>`
  const pictured = await createApi(service, 'pictured')
  expect((await uploadImage(service, pictured, new Blob([svg]))).status).toBe(200)
  const before = await metric(service, 'process_resident_memory_bytes')
  const images = await unread(60, `/apis/${pictured}/image`, `Authorization: ${reader}\r\n`)
  const documents = await unread(300, '/openapi.json')
  await servesOthers()
  expect((await metric(service, 'process_resident_memory_bytes')) - before).toBeLessThan(100 * MEBIBYTE)
  // The last response may exceed the quarter of a caller.
  expect(await metric(service, 'gantry_buffered_bytes', 'responses')).toBeLessThan(24 * MEBIBYTE)
  for (const statuses of [images, documents]) expect([...new Set(statuses)].sort()).toEqual(['200', '429'])
})

/** Sends requests on a connection each, and reads the head of the response only. @returns the statuses */
function unread(count: number, path: string, headers = ''): Promise<string[]> {
  const { hostname, port } = new URL(service.url)
  const status = async () => {
    const socket = connect(Number(port), hostname).on('error', () => {})
    onTestFinished(() => void socket.destroy())
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`)
    await once(socket, 'readable')
    return String(socket.read(12)).slice(9)
  }
  return Promise.all(Array.from({ length: count }, status))
}
