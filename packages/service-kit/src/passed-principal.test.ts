import { createHmac } from 'node:crypto'
import { getApi, login, type Principal } from '@gantry/contracts'
import Fastify, { type FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { Registry } from 'prom-client'
import { beforeEach, expect, test } from 'vitest'
import { PRINCIPAL_HEADER, passedPrincipals } from './passed-principal.ts'
import { ANONYMOUS } from './routes.ts'
import { deriveKey } from './secrets.ts'
import { httpServer } from './server.ts'

const KEY = Buffer.alloc(32, 7)
const OTHER_KEY = Buffer.alloc(32, 8)
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
const gatewayWith = (encryptionKey: Uint8Array) => passedPrincipals(Fastify(), { encryptionKey, now })

beforeEach(async () => {
  time = Date.parse('2026-01-01T00:00:00Z')
  const app = httpServer({
    basePath: '',
    log: pino({ level: 'silent' }),
    metrics: new Registry(),
    now,
    waitingFor: () => undefined,
  })
  const { admit } = await passedPrincipals(app, { encryptionKey: KEY, now })
  app.get('/read', async (request, reply) => admit(request, reply, getApi))
  app.get('/write', async (request, reply) =>
    admit(request, reply, { ...getApi, scope: 'API_WRITE' } as typeof getApi),
  )
  app.get('/login', async (request, reply) => (await admit(request, reply, login)) === ANONYMOUS)
  service = app
})

const ask = (url: string, token?: string) =>
  service.inject({ url, headers: token === undefined ? {} : { [PRINCIPAL_HEADER]: token } })

test('a service learns from the gateway who is calling', async () => {
  const answer = await ask('/read', (await gatewayWith(KEY)).sign(ada))
  expect(answer.statusCode).toBe(200)
  expect(answer.json()).toEqual(ada)
})

test('and checks the scope itself', async () => {
  const answer = await ask('/write', (await gatewayWith(KEY)).sign(ada))
  expect(answer.json()).toMatchObject({ status: 403, code: 'scope-missing', scope: 'API_WRITE' })
})

test('a request that the gateway did not pass on is refused, whatever it needs', async () => {
  expect((await ask('/read')).statusCode).toBe(401)
  expect((await ask('/login')).statusCode).toBe(401)
})

test('callers that nobody knows come through the gateway too', async () => {
  const answer = await ask('/login', (await gatewayWith(KEY)).sign(ANONYMOUS))
  expect(answer.json()).toBe(true)
})

test('a token is worth nothing after a minute', async () => {
  const { sign } = await gatewayWith(KEY)
  const token = sign(ada)
  time += 59_000
  expect((await ask('/read', token)).statusCode).toBe(200)
  time += 2_000
  expect((await ask('/read', token)).statusCode).toBe(401)
  expect((await ask('/read', sign(ada))).statusCode).toBe(200)
})

test.for([
  ['signed with another key', async () => (await gatewayWith(OTHER_KEY)).sign(ada)],
  ['not signed', async () => handmade({ alg: 'none' }, {})],
  ['for somebody else', async () => handmade({ alg: 'HS256' }, { aud: 'elsewhere' })],
  ['by somebody else', async () => handmade({ alg: 'HS256' }, { iss: 'elsewhere' })],
  ['without an end', async () => handmade({ alg: 'HS256' }, { exp: undefined })],
] as const)('a token %s is refused', async ([, make]) => {
  expect((await ask('/read', await make())).statusCode).toBe(401)
})

test('a gateway of an earlier release, which does not identify the credential, is believed', async () => {
  const { credentialId: _, ...principal } = ada
  const answer = await ask('/read', handmade({ alg: 'HS256' }, { principal }))
  expect([answer.statusCode, answer.json()]).toEqual([200, principal])
})

test('the tokens of this test are made like those of the gateway', async () => {
  expect((await ask('/read', handmade({ alg: 'HS256' }, {}))).statusCode).toBe(200)
})

function handmade(header: { alg: string }, claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const exp = time / 1000 + 60
  const body = `${part({ typ: 'JWT', ...header })}.${part({ principal: ada, iss: 'gantry-gateway', aud: 'gantry-services', exp, ...claims })}`
  const key = deriveKey(KEY, 'principals that the gateway passes on')
  return `${body}.${header.alg === 'none' ? '' : createHmac('sha256', key).update(body).digest('base64url')}`
}
