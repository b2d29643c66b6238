import { OPERATIONS, type Operation } from '@gantry/contracts'
import { beforeAll, describe, expect, test } from 'vitest'
import { admin, uuid } from '../src/gantry.ts'
import { ask, PREFIX } from '../src/raw.ts'
import { createUser, loggedIn, scopedTo } from '../src/users.ts'

const by = (authorization = '') => `Authorization: ${authorization}`
const JSON_TYPE = 'Content-Type: application/json'
let stranger: string
/** Not a shared user: a story fills the body memory of this one. */
let writer: string
beforeAll(async () => {
  writer = by((await loggedIn(await createUser({ role: 'GLOBAL_ADMIN' }))).authorization)
  stranger = by((await scopedTo('METRICS_READ')).authorization)
})

const typeOf = ({ bodyMediaType }: Operation) =>
  bodyMediaType === 'multipart/form-data' ? `Content-Type: ${bodyMediaType}; boundary=b` : JSON_TYPE
const pathOf = ({ path }: Operation) => PREFIX + path.replace(/\{\w+\}/g, () => uuid())
const document = (bytes: number) => `{${' '.repeat(bytes - 2)}}`
const inChunks = (bytes: number) => `${bytes.toString(16)}\r\n${document(bytes)}\r\n`

/** Each request announces a body that is never sent. */
describe('a response that does not depend on the body is sent before the body has arrived', () => {
  const closed = OPERATIONS.filter(({ scope }) => scope !== 'public')
  test.for(closed.map(operation => [operation.id, operation] as const))('%s', async ([, operation]) => {
    const lines = [typeOf(operation), 'Content-Length: 100']
    const path = pathOf(operation)
    expect((await ask(operation.method, path, lines)).status).toBe(401)
    if (operation.scope === 'authenticated') return
    expect((await ask(operation.method, path, [...lines, stranger])).status).toBe(403)
  })

  test('an unknown path or method', async () => {
    const lines = [JSON_TYPE, 'Content-Length: 100']
    expect((await ask('POST', `${PREFIX}/nothing`, lines)).status).toBe(404)
    expect((await ask('DELETE', `${PREFIX}/apis`, lines)).status).toBe(405)
  })
})

test.for([
  ['1 KiB for POST /logout', '/logout', 1_024],
  ['8 KiB for POST /login', '/login', 8_192],
  ['256 KiB for POST /apis', '/apis', 262_144],
  ['1 MiB for POST /events', '/events', 1_048_576],
] as const)('a body has at most %s', async ([, path, limit]) => {
  const isLogout = path === '/logout'
  const caller = isLogout
    ? by((await loggedIn(await createUser({ role: 'NO_ACCESS' }))).authorization)
    : writer
  const send = async (framing: string, body: string) =>
    await ask('POST', PREFIX + path, [caller, JSON_TYPE, framing], body)
  for (const larger of [
    await send(`Content-Length: ${limit + 1}`, document(limit + 1)),
    await send('Transfer-Encoding: chunked', inChunks(limit + 1)),
  ]) {
    expect(larger.status).toBe(413)
    expect(larger.bytes.toString()).toContain('"code":"body-too-large"')
  }
  expect((await send(`Content-Length: ${limit}`, document(limit))).status).toBe(isLogout ? 204 : 400)
})

test('the document states the size limit of request bodies', async () => {
  const { paths } = (await admin.get('/openapi.json')).as<{
    paths: Record<string, Record<string, { requestBody?: { description?: string } }>>
  }>(200)
  expect(paths['/login']?.post?.requestBody?.description).toBe('At most 8 KiB')
})
