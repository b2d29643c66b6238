import { createHmac } from 'node:crypto'
import { createApi, getApi, listApis, login, type Principal } from '@gantry/contracts'
import Fastify, { type FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { beforeEach, expect, test } from 'vitest'
import { derivedPrincipalKey, PRINCIPAL_HEADER, passedPrincipals } from './passed-principal.ts'
import { ANONYMOUS } from './request-context.ts'
import { httpServer } from './server.ts'

const KEY = derivedPrincipalKey(Buffer.alloc(32, 7))
const GATEWAY_KEY = Buffer.alloc(32, 9)
const OTHER_KEY = Buffer.alloc(32, 8)
const PURPOSE = { service: getApi.service, operation: getApi.id }
const INSIDE = { service: 'catalog', id: 'catalog.api-exists' }
const ada: Principal = {
  userId: '11111111-1111-4111-8111-111111111111',
  username: 'ada',
  role: 'USER',
  scopes: ['API_READ'],
  kind: 'login',
  tokenId: null,
  credentialId: '33333333-3333-4333-8333-333333333333',
  expiresAt: 2_000_000_000_000,
}

let time: number
const now = () => new Date(time)
let service: FastifyInstance
const gatewayWith = (key: Uint8Array) => passedPrincipals(Fastify(), { key, now })

beforeEach(async () => {
  time = Date.parse('2026-01-01T00:00:00Z')
  service = await serviceWith({ key: KEY })
})

async function serviceWith(keys: {
  key: Uint8Array
  otherKeys?: Uint8Array[]
  gatewayKey?: Uint8Array
}): Promise<FastifyInstance> {
  const app = httpServer({
    basePath: '',
    log: pino({ level: 'silent' }),
    metrics: new Registry(),
    now,
    notReadyReason: () => undefined,
  })
  const { admit, vouched } = await passedPrincipals(app, { ...keys, now })
  app.get('/read', async (request, reply) => admit(request, reply, getApi))
  app.get('/list', async (request, reply) => admit(request, reply, listApis))
  app.get('/write', async (request, reply) => admit(request, reply, createApi))
  app.get('/user', async (request, reply) => admit(request, reply, { ...getApi, service: 'identity' }))
  app.get('/login', async (request, reply) => (await admit(request, reply, login)) === ANONYMOUS)
  app.get('/inside', async request => {
    vouched(request, INSIDE)
    return 'told'
  })
  app.get('/inside/any', async request => {
    vouched(request)
    return 'told'
  })
  return app
}

const ask = (url: string, token?: string, asked = service) =>
  asked.inject({ url, headers: token === undefined ? {} : { [PRINCIPAL_HEADER]: token } })
const statusOf = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).statusCode

test('a service gets the caller from the gateway', async () => {
  const answer = await ask('/read', (await gatewayWith(KEY)).sign(ada, getApi))
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual(ada)
})

test('a service checks the scope of the caller itself', async () => {
  const answer = await ask('/write', (await gatewayWith(KEY)).sign(ada, createApi))
  expect(answer.json()).toMatchObject({ status: 403, code: 'scope-missing', scope: 'API_WRITE' })
})

test('every request without a principal is refused, also to a public operation', async () => {
  for (const path of ['/read', '/login', '/inside', '/inside/any']) expect(await statusOf(path)).toBe(401)
})

test('anonymous callers of a public operation are signed by the gateway as well', async () => {
  const answer = await ask('/login', (await gatewayWith(KEY)).sign(ANONYMOUS, login))
  expect(answer.json()).toBe(true)
})

test('a principal signed for one operation is refused for other operations and by other services', async () => {
  const { sign } = await gatewayWith(KEY)
  const captured = sign(ada, getApi)
  expect(await statusOf('/read', captured)).toBe(200)
  for (const path of ['/list', '/write', '/user', '/login', '/inside'])
    expect([path, await statusOf(path, captured)]).toEqual([path, 401])
  expect(await statusOf('/list', sign(ada, listApis))).toBe(200)
  expect(await statusOf('/read', captured)).toBe(200)
})

test('an internal request needs a principal that is signed for its subject', async () => {
  const { sign } = await gatewayWith(KEY)
  expect(await statusOf('/inside', sign(ANONYMOUS, INSIDE))).toBe(200)
  for (const purpose of [getApi, { ...INSIDE, id: 'catalog.another' }, { ...INSIDE, service: 'media' }])
    expect(await statusOf('/inside', sign(ANONYMOUS, purpose))).toBe(401)
  expect(await statusOf('/read', sign(ada, INSIDE))).toBe(401)
})

test('a token is refused after a minute', async () => {
  const { sign } = await gatewayWith(KEY)
  const token = sign(ada, getApi)
  time += 59_000
  expect(await statusOf('/read', token)).toBe(200)
  time += 2_000
  expect(await statusOf('/read', token)).toBe(401)
  expect(await statusOf('/read', sign(ada, getApi))).toBe(200)
})

test('a service accepts PRINCIPAL_KEY and the key derived from ENCRYPTION_KEY, and no other key', async () => {
  const both = await serviceWith({ key: KEY, gatewayKey: GATEWAY_KEY })
  for (const [key, status] of [
    [KEY, 200],
    [GATEWAY_KEY, 200],
    [OTHER_KEY, 401],
  ] as const)
    expect(await statusOf('/read', (await gatewayWith(key)).sign(ada, getApi), both)).toBe(status)
  expect(await statusOf('/read', (await gatewayWith(GATEWAY_KEY)).sign(ada, getApi))).toBe(401)
})

test('a service accepts the key derived from every key of ENCRYPTION_KEY', async () => {
  const rotating = await serviceWith({ key: OTHER_KEY, otherKeys: [KEY], gatewayKey: GATEWAY_KEY })
  for (const key of [KEY, OTHER_KEY, GATEWAY_KEY])
    expect(await statusOf('/read', (await gatewayWith(key)).sign(ada, getApi), rotating)).toBe(200)
})

test.for([
  ['signed with another key', async () => (await gatewayWith(OTHER_KEY)).sign(ada, getApi)],
  ['not signed', async () => handmade({ alg: 'none' }, PURPOSE)],
  ['for another audience', async () => handmade({ alg: 'HS256' }, { ...PURPOSE, aud: 'elsewhere' })],
  ['of another issuer', async () => handmade({ alg: 'HS256' }, { ...PURPOSE, iss: 'elsewhere' })],
  ['without an expiry', async () => handmade({ alg: 'HS256' }, { ...PURPOSE, exp: undefined })],
  [
    'that is valid for a year',
    async () => handmade({ alg: 'HS256' }, { ...PURPOSE, exp: time / 1000 + 31_536_000 }),
  ],
  ['without a purpose', async () => handmade({ alg: 'HS256' }, {})],
  ['with a service but no operation', async () => handmade({ alg: 'HS256' }, { service: 'catalog' })],
  ['with an operation but no service', async () => handmade({ alg: 'HS256' }, { operation: getApi.id })],
] as const)('a token %s is refused', async ([, make]) => {
  const token = await make()
  for (const path of ['/read', '/inside', '/inside/any'])
    expect([path, await statusOf(path, token)]).toEqual([path, 401])
})

test('the hand-made tokens of this test are valid like those of the gateway', async () => {
  expect(await statusOf('/read', handmade({ alg: 'HS256' }, PURPOSE))).toBe(200)
})

function handmade(header: { alg: string }, claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const exp = time / 1000 + 60
  const body = `${part({ typ: 'JWT', ...header })}.${part({ principal: ada, iss: 'gantry-gateway', aud: 'gantry-services', exp, ...claims })}`
  return `${body}.${header.alg === 'none' ? '' : createHmac('sha256', KEY).update(body).digest('base64url')}`
}
