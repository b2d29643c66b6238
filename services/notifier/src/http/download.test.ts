import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { MAX_DOCUMENT_BYTES } from '@gantry/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { cidrs } from './address.ts'
import { downloads } from './download.ts'

/** A server of documents. @returns its URL, and the paths that were requested */
async function serve(respond: RequestListener) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    respond(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/a`, asked }
}

const fetching = (allowed = '127.0.0.0/8', timeoutMs = 20_000) => {
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const made = downloads({ allowed: allowed ? cidrs.parse(allowed) : [], resolve, timeoutMs })
  onTestFinished(() => made.close())
  return made.get
}
const refusal = (code: string, detail: string | RegExp) => ({
  code,
  details: { detail: expect.stringMatching(detail) },
})

test('a document is fetched, also after redirects, with its charset', async () => {
  const { url, asked } = await serve(({ url }, response) => {
    if (url === '/a') return response.writeHead(302, { location: '/b' }).end()
    response.writeHead(200, { 'content-type': 'text/yaml; charset=utf-8' }).end('openapi: 3.1.0')
  })
  const { gzip, charset } = await fetching()(url)
  expect(gunzipSync(Buffer.from(gzip, 'base64')).toString()).toBe('openapi: 3.1.0')
  expect(charset).toBe('utf-8')
  expect(asked).toEqual(['/a', '/b'])
})

test('an address that webhooks may not reach is refused, also after a redirect, by name and in any notation', async () => {
  const inside = await serve((_, response) => void response.end('secret'))
  for (const url of [inside.url, inside.url.replace('127.0.0.1', '2130706433'), 'http://inside.test/'])
    await expect(fetching('')(url)).rejects.toMatchObject(refusal('document-unreachable', /address/))
  expect(inside.asked).toEqual([])
  for (const location of ['http://169.254.169.254/latest', 'http://[::1]/', 'http://10.0.0.1/']) {
    const { url } = await serve((_, response) => void response.writeHead(307, { location }).end())
    await expect(fetching()(url)).rejects.toMatchObject(refusal('document-unreachable', /not a public/))
  }
})

test('another scheme, credentials, endless redirects and other statuses are refused', async () => {
  for (const url of ['file:///etc/passwd', 'ftp://a/', 'http://user:pass@a/', 'no url'])
    await expect(fetching()(url)).rejects.toMatchObject(refusal('document-unreachable', /^the URL/))
  const around = await serve((_, response) => void response.writeHead(301, { location: '/a' }).end())
  await expect(fetching()(around.url)).rejects.toMatchObject(refusal('document-unreachable', /more than 3/))
  expect(around.asked).toHaveLength(4)
  const toFile = await serve((_, response) => void response.writeHead(301, { location: 'file:///a' }).end())
  await expect(fetching()(toFile.url)).rejects.toMatchObject(refusal('document-unreachable', /http or https/))
  const missing = await serve((_, response) => void response.writeHead(404).end())
  await expect(fetching()(missing.url)).rejects.toMatchObject(refusal('document-unreachable', 'answered 404'))
})

test('a document that is too large, or too late, is refused', async () => {
  const large = await serve((_, response) => {
    response.write(Buffer.alloc(MAX_DOCUMENT_BYTES))
    response.end('x')
  })
  await expect(fetching()(large.url)).rejects.toMatchObject({ code: 'document-too-large' })
  const late = await serve(() => {})
  await expect(fetching('127.0.0.0/8', 50)(late.url)).rejects.toMatchObject(
    refusal('document-unreachable', 'within 50 ms'),
  )
})
