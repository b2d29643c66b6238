import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ServiceProcess } from '@gantry/standalone/testing'
import { afterAll, expect, onTestFinished } from 'vitest'

type Service = Pick<ServiceProcess, 'url' | 'authorization'>

/** A new folder, which is removed after the tests of the file. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-faults-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Removes a database of a stopped service, with its write-ahead log. */
export function removeDatabase(dataFolder: string, name: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(join(dataFolder, `${name}${suffix}`), { force: true })
}

/** Sends a request as the first administrator. @returns the answer, with a JSON body parsed and any other one as text */
export async function call<Body = unknown>(
  { url, authorization }: Service,
  method: string,
  path: string,
  body?: object,
): Promise<{ status: number; headers: Headers; body: Body }> {
  const isForm = body instanceof FormData
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization, ...(body && !isForm && { 'content-type': 'application/json' }) },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  })
  const received = await answer.text()
  const isJson = /[/+]json/.test(answer.headers.get('content-type') ?? '') && received !== ''
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(received) : received }
}

export const apiNamed = (name: string) => ({ name, displayName: name, status: 'ACTIVE', tags: [] })

/** @returns the id */
export async function createApi(service: Service, name: string): Promise<string> {
  const { status, body } = await call<{ id: string }>(service, 'POST', '/apis', apiNamed(name))
  expect(status).toBe(201)
  return body.id
}

/** All APIs, from all pages of the list. */
export async function allApis(service: Service): Promise<{ id: string; name: string }[]> {
  const apis: { id: string; name: string }[] = []
  for (let page = 1, last = false; !last; page++) {
    const { body } = await call<{ content: typeof apis; last: boolean }>(
      service,
      'GET',
      `/apis?size=100&page=${page}`,
    )
    apis.push(...body.content)
    last = body.last
  }
  return apis
}

export async function uploadImage(service: Service, api: string, image: Blob) {
  const form = new FormData()
  form.set('file', image, 'image')
  return call(service, 'PUT', `/apis/${api}/image`, form)
}

/** @returns the secret of the webhook, and its id */
export async function createWebhook(service: Service, url: string, eventTypes = ['API_CREATED']) {
  const webhook = { displayName: 'x', url, active: true, eventTypes }
  const { status, body } = await call<{ id: string; secret: string }>(service, 'POST', '/webhooks', webhook)
  expect(status).toBe(201)
  return body
}

/** The value of the first metric with this name and label, e.g. `state="running"`. */
export async function metric({ url }: Pick<Service, 'url'>, name: string, label = ''): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(new RegExp(`^${name}(?:\\{.*${label}.*\\})? (\\S+)$`, 'm').exec(metrics)?.[1])
}

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** A server for deliveries of webhooks, until the end of the test. @param answer chooses the status; undefined breaks the connection off */
export async function startReceiver(
  answer: (request: Received) => number | undefined | Promise<number | undefined>,
) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const one = { path: request.url ?? '', headers: request.headers, body: await text(request) }
    const status = await answer(one)
    received.push(one)
    if (status === undefined) return response.destroy()
    response.writeHead(status).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}
