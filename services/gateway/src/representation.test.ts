import { PassThrough } from 'node:stream'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { expect, test } from 'vitest'
import { representations } from './representation.ts'

const LONG = JSON.stringify({ text: 'payments '.repeat(1_000) })
const BUFFER = Buffer.from(LONG)

type Body = () => string | Buffer | PassThrough
interface Asked {
  accept?: string
  headers?: Readonly<Record<string, string>>
}

async function get(body: Body, { accept = 'br, gzip', headers = {} }: Asked = {}) {
  const app = Fastify()
  representations(app)
  app.get('/', (_request, reply) =>
    reply.headers({ 'content-type': 'application/json; charset=utf-8', ...headers }).send(body()),
  )
  const answer = await app.inject({ url: '/', headers: accept ? { 'accept-encoding': accept } : {} })
  await app.close()
  return answer
}
const stream: Body = () => new PassThrough().end(LONG)

test('text is compressed for clients that accept it', async () => {
  const text = await get(() => LONG)
  expect(text.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
  expect(gunzipSync(text.rawPayload).toString()).toBe(LONG)
  expect(text.rawPayload.length).toBeLessThan(LONG.length / 10)
  expect(text.headers['content-length']).toBe(String(text.rawPayload.length))
  const document = await get(() => BUFFER)
  expect(document.headers['content-encoding']).toBe('br')
  expect(brotliDecompressSync(document.rawPayload).toString()).toBe(LONG)
  const forwarded = await get(stream, { headers: { 'content-length': String(LONG.length) } })
  expect(forwarded.headers['content-encoding']).toBe('gzip')
  expect(gunzipSync(forwarded.rawPayload).toString()).toBe(LONG)
})

test.for<[string, Body, Asked]>([
  ['the client does not accept it', () => LONG, { accept: '' }],
  ['the client refuses it', () => LONG, { accept: 'gzip;q=0, br; q=0.0, *' }],
  ['it is short', () => '{}', {}],
  ['it is a picture', () => BUFFER, { headers: { 'content-type': 'image/png' } }],
  ['it has ranges', () => BUFFER, { headers: { 'accept-ranges': 'bytes' } }],
  ['it is a stream of unknown length', stream, {}],
  ['it is a stream of events', stream, { headers: { 'content-type': 'text/event-stream' } }],
])('a body is not compressed when %s', async ([, body, options]) => {
  const answer = await get(body, options)
  expect(answer.headers['content-encoding']).toBeUndefined()
  expect([LONG, '{}']).toContain(answer.payload)
})
