import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@gantry/service-kit/testing'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'

const run = promisify(execFile)
const DOCUMENT = join(import.meta.dirname, '../../docs/webhooks.md')
const START_MS = 120_000
/** On a machine with cold caches Go compiles its standard library. */
const COMPILE_MS = 240_000

interface Language {
  name: string
  program: string
  /** Arguments that print the version. */
  version: string[]
  /** The command that runs the file, after compiling it if necessary. */
  start(file: string): Promise<[program: string, ...args: string[]]>
}

const javascript: Omit<Language, 'name'> = {
  program: process.execPath,
  version: ['--version'],
  start: async file => [process.execPath, file],
}
const RECEIVERS: Record<string, Language> = {
  'receiver.mjs': { name: 'JavaScript', ...javascript },
  'receiver-with-library.mjs': { name: 'JavaScript with the library', ...javascript },
  'receiver.py': {
    name: 'Python',
    program: 'python3',
    version: ['--version'],
    start: async file => ['python3', file],
  },
  'receiver.go': {
    name: 'Go',
    program: 'go',
    version: ['version'],
    async start(file) {
      const compiled = file.replace(/\.go$/, '')
      await run('go', ['build', '-o', compiled, file], { timeout: COMPILE_MS })
      return [compiled]
    },
  },
}

/** The code blocks of the document that have a file name, by file name. */
const documented = new Map(
  [...(await readFile(DOCUMENT, 'utf8')).matchAll(/^```\w+ (receiver\S*)\n(.*?)^```$/gms)].map(
    ([, file = '', code = '']) => [file, code],
  ),
)

/** In the project, so that receivers find its libraries. */
const cache = join(import.meta.dirname, '.cache')
let folder: string
let data: string
let service: ServiceProcess | undefined
beforeAll(async () => {
  await mkdir(cache, { recursive: true })
  folder = await mkdtemp(join(cache, 'receivers-'))
  data = await mkdtemp(join(tmpdir(), 'gantry-receivers-'))
  service = await startServiceProcess(data, { WEBHOOK_RETRY_SCHEDULE: '200ms,200ms,200ms' })
}, START_MS)
afterAll(async () => {
  await service?.kill()
  await Promise.all([folder, data].map(path => rm(path, { recursive: true })))
})

const send = async <Body>(method: string, path: string, body?: object): Promise<Body> => {
  const { url, authorization } = service ?? { url: '', authorization: '' }
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  expect(answer.ok, await answer.clone().text()).toBe(true)
  return (await answer.json()) as Body
}

interface Passed {
  headers: IncomingHttpHeaders
  body: string
  /** Status of the receiver's response. */
  status: number
}

/** A proxy to the receiver that loses the first response, so that the service repeats the delivery. */
async function losingFirstAnswer(receiverUrl: string) {
  const passed: Passed[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const status = await post(receiverUrl, body, request.headers)
    passed.push({ headers: request.headers, body, status })
    if (passed.length === 1) return response.destroy()
    response.writeHead(status).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, passed, close }
}

const post = async (url: string, body: string, headers: IncomingHttpHeaders) => {
  const answer = await fetch(url, {
    method: 'POST',
    body,
    headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
      name.startsWith('webhook-') ? [[name, String(value)]] : [],
    ),
  })
  await answer.body?.cancel()
  return answer.status
}

const end = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill()
  await ended
}

test('the document has a receiver in each language', () => {
  expect([...documented.keys()].toSorted()).toEqual(Object.keys(RECEIVERS).toSorted())
})

describe('the receiver in the document', () => {
  test.for(Object.entries(RECEIVERS))(
    '%s accepts each genuine message once, and refuses others',
    { timeout: COMPILE_MS + 60_000 },
    async ([file, { name, program, version, start }], { skip }) => {
      try {
        await run(program, version)
      } catch {
        skip(`${program} is not installed`)
      }
      const path = join(folder, file)
      await writeFile(path, documented.get(file) ?? '')
      const [command, ...args] = await start(path)
      const port = await freePort()
      const receiverUrl = `http://127.0.0.1:${port}/hook`
      const between = await losingFirstAnswer(receiverUrl)
      const { id, secret } = await send<{ id: string; secret: string }>('POST', '/webhooks', {
        displayName: name,
        url: between.url,
        active: true,
        eventTypes: ['CONFIGURATION_CHANGED'],
      })
      let output = ''
      const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret }
      const child = endsWithParent(spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] }))
      for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += chunk))
      try {
        await vi.waitFor(
          async () => {
            if (child.exitCode !== null) throw new Error(`the receiver exited: ${output}`)
            expect(await post(receiverUrl, '{}', {})).toBe(400)
          },
          { timeout: 20_000, interval: 50 },
        )
        await send('POST', '/events', {
          specversion: '1.0',
          id: file,
          source: '/receivers',
          type: 'CONFIGURATION_CHANGED',
          data: { größe: '1 MiB \u{1f680}' },
        })
        const arrived = (count: number) =>
          vi.waitFor(() => expect(between.passed).toHaveLength(count), { timeout: 20_000, interval: 20 })
        await arrived(2)
        const [first, second] = between.passed
        if (!first || !second) throw new Error('nothing arrived')
        expect([first.status, second.status]).toEqual([204, 204])
        const messageId = String(first.headers['webhook-id'])
        expect(second.headers['webhook-id']).toBe(messageId)

        const sealed = (key: string, at: Date, body: string): IncomingHttpHeaders => ({
          'webhook-id': messageId,
          'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
          'webhook-signature': new Webhook(key).sign(messageId, at, body),
        })
        const now = new Date()
        const old = new Date(now.getTime() - 6 * 60_000)
        const other = `whsec_${Buffer.alloc(24, 1).toString('base64')}`
        expect(await post(receiverUrl, first.body, sealed(secret, now, first.body))).toBe(204)
        expect(await post(receiverUrl, `${first.body} `, first.headers)).toBe(400)
        expect(await post(receiverUrl, first.body, sealed(other, now, first.body))).toBe(400)
        expect(await post(receiverUrl, first.body, sealed(secret, old, first.body))).toBe(400)
        const renamed = { ...sealed(secret, now, first.body), 'webhook-id': 'another' }
        expect(await post(receiverUrl, first.body, renamed)).toBe(400)

        // After a rotation the receiver still verifies with the old secret.
        await send('POST', `/webhooks/${id}/rotateSecret`)
        const { id: tested } = await send<{ id: string }>('POST', `/webhooks/${id}/test`)
        await arrived(3)
        expect(between.passed[2]).toMatchObject({ status: 204, headers: { 'webhook-id': tested } })
        await vi.waitFor(() =>
          expect(output.trim().split(/\r?\n/)).toEqual([
            `noted ${messageId} CONFIGURATION_CHANGED`,
            `noted ${tested} TEST`,
          ]),
        )
      } finally {
        await end(child)
        between.close()
      }
    },
  )
})
