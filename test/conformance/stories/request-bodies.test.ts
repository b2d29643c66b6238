import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { OPERATIONS, type Operation } from '@gantry/contracts'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { admin, createApi, createUser, eventually, logIn, service, uuid } from '../src/gantry.ts'

const base = new URL(service.baseUrl)
const prefix = base.pathname.replace(/\/$/, '')
let stranger: string
let writer: string
let open: Unfinished[] = []
beforeAll(async () => {
  stranger = await authorizationOf('NO_ACCESS')
  writer = await authorizationOf('GLOBAL_ADMIN')
})
afterEach(() => {
  for (const { socket } of open) socket.destroy()
  open = []
})

const authorizationOf = async (role: 'NO_ACCESS' | 'GLOBAL_ADMIN') => {
  const { username } = await createUser({ role })
  return (await logIn(username)).is(200).headers.get('authorization') ?? ''
}

interface Unfinished {
  socket: Socket
  answer: string
}

/** Begins a request and leaves it and the connection open. */
function begin(
  method: string,
  path: string,
  headers: Record<string, string | number>,
  body = '',
): Unfinished {
  const secure = base.protocol === 'https:'
  const port = Number(base.port || (secure ? 443 : 80))
  const socket = secure ? connectTls({ port, host: base.hostname }) : connect(port, base.hostname)
  const unfinished: Unfinished = { socket, answer: '' }
  socket.setEncoding('utf8').on('error', () => {})
  socket.on('data', part => {
    unfinished.answer += part
  })
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${method} ${prefix}${path} HTTP/1.1\r\nHost: ${base.host}\r\n${lines.join('')}\r\n${body}`)
  open.push(unfinished)
  return unfinished
}

const statusOf = ({ answer }: Unfinished) => Number(answer.split(' ')[1] ?? 0)
const answered = async (unfinished: Unfinished) => {
  await eventually(() => expect(unfinished.answer).not.toBe(''))
  return statusOf(unfinished)
}
const typeOf = ({ bodyMediaType }: Operation) =>
  bodyMediaType === 'multipart/form-data' ? `${bodyMediaType}; boundary=b` : 'application/json'
const pathOf = ({ path }: Operation) => path.replace(/\{\w+\}/g, () => uuid())
const document = (bytes: number) => `{${' '.repeat(bytes - 2)}}`
const inChunks = (bytes: number) => `${bytes.toString(16)}\r\n${document(bytes)}\r\n`

describe('a response that does not depend on the body is sent before the body has arrived', () => {
  const closed = OPERATIONS.filter(({ scope }) => scope !== 'public')
  test.for(closed.map(operation => [operation.id, operation] as const))('%s', async ([, operation]) => {
    const headers = { 'Content-Type': typeOf(operation), 'Content-Length': 100 }
    const path = pathOf(operation)
    expect(await answered(begin(operation.method, path, headers))).toBe(401)
    if (operation.scope === 'authenticated') return
    const forbidden = begin(operation.method, path, { ...headers, Authorization: stranger })
    expect(await answered(forbidden)).toBe(403)
  })

  test('an unknown path or method', async () => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': 100 }
    expect(await answered(begin('POST', '/nothing', headers))).toBe(404)
    expect(await answered(begin('DELETE', '/apis', headers))).toBe(405)
  })
})

describe('a body has at most', () => {
  const json = { 'Content-Type': 'application/json' }
  const announced = (bytes: number) => [{ ...json, 'Content-Length': bytes }, document(bytes)] as const
  const chunked = (bytes: number) => [{ ...json, 'Transfer-Encoding': 'chunked' }, inChunks(bytes)] as const

  test.for([
    ['1 KiB for POST /logout', '/logout', 1_024],
    ['8 KiB for POST /login', '/login', 8_192],
    ['256 KiB for POST /apis', '/apis', 262_144],
    ['1 MiB for POST /events', '/events', 1_048_576],
  ] as const)('%s', async ([, path, limit]) => {
    const caller = { Authorization: path === '/logout' ? stranger : writer }
    for (const [headers, body] of [announced(limit + 1), chunked(limit + 1)]) {
      const larger = begin('POST', path, { ...headers, ...caller }, body)
      expect(await answered(larger)).toBe(413)
      expect(larger.answer).toContain('"code":"body-too-large"')
    }
    const [headers, body] = announced(limit)
    const largest = begin('POST', path, { ...headers, ...caller }, body)
    expect(await answered(largest)).toBe(path === '/logout' ? 204 : 400)
    if (path === '/logout') stranger = await authorizationOf('NO_ACCESS')
  })
})

test('too many unfinished bodies of one caller get 503, and do not affect other callers', async () => {
  const headers = {
    Authorization: writer,
    'Content-Type': 'application/json',
    'Transfer-Encoding': 'chunked',
  }
  const bodies = Array.from({ length: 40 }, () => begin('POST', '/events', headers, inChunks(600_000)))
  const refused = () => bodies.filter(body => statusOf(body) === 503)
  await eventually(() => expect(refused().length).toBeGreaterThan(10))
  for (const { answer } of refused()) {
    expect(answer).toContain('"code":"body-memory-full"')
    expect(answer).toMatch(/\r\nretry-after: \d+\r\n/i)
  }
  await createApi()
  for (const { socket } of bodies) socket.destroy()
  await eventually(async () => {
    const answer = begin('POST', '/events', { ...headers }, `${inChunks(600_000)}0\r\n\r\n`)
    expect(await answered(answer)).toBe(400)
  })
})

test('the document states the size limit of request bodies', async () => {
  const { paths } = (await admin.get('/openapi.json')).as<{
    paths: Record<string, Record<string, { requestBody?: { description?: string } }>>
  }>(200)
  expect(paths['/login']?.post?.requestBody?.description).toBe('At most 8 KiB')
})
