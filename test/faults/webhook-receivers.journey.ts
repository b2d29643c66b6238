import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '@gantry/service-runtime/testing'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'
import { call, createWebhook, newFolder, type Received, startReceiver } from './src/service.ts'

const run = promisify(execFile)
const DOCUMENT = join(import.meta.dirname, '../../docs/webhooks.md')
/** On a machine with cold caches Go compiles its standard library. */
const COMPILE_MS = 240_000

interface Language {
  program: string
  /** Arguments that print the version. */
  version: string[]
  /** The command that runs the file, after compiling it if necessary. */
  start(file: string): Promise<string[]>
}

const javascript: Language = {
  program: process.execPath,
  version: ['--version'],
  start: async file => [process.execPath, file],
}
const RECEIVERS: Record<string, Language> = {
  'receiver.mjs': javascript,
  'receiver-with-library.mjs': javascript,
  'receiver.py': {
    program: 'python3',
    version: ['--version'],
    start: async file => ['python3', file],
  },
  'receiver.go': {
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
const data = newFolder()
let folder: string
let service: ServiceProcess
beforeAll(async () => {
  await mkdir(cache, { recursive: true })
  folder = await mkdtemp(join(cache, 'receivers-'))
  service = await startServiceProcess(data, { WEBHOOK_RETRY_SCHEDULE: '200ms,200ms,200ms' })
})
afterAll(async () => {
  await service.stop()
  await rm(folder, { recursive: true })
})

/** @returns the status of the receiver's response */
async function post(url: string, body: string, headers: IncomingHttpHeaders): Promise<number> {
  const own = Object.entries(headers).filter(([name]) => name.startsWith('webhook-'))
  const answer = await fetch(url, { method: 'POST', body, headers: own as [string, string][] })
  await answer.body?.cancel()
  return answer.status
}

/** Starts a receiver. @returns its output so far, and a function that ends it */
async function startProgram([command = '', ...args]: readonly string[], env: NodeJS.ProcessEnv) {
  let output = ''
  const child: ChildProcess = endsWithParent(
    spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] }),
  )
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => (output += chunk))
  await vi.waitFor(async () => {
    if (child.exitCode !== null) throw new Error(`the receiver exited: ${output}`)
    expect(await post(`http://127.0.0.1:${env.PORT}/hook`, '{}', {})).toBe(400)
  })
  const end = async () => {
    const ended = once(child, 'exit')
    child.kill()
    await ended
  }
  return { output: () => output, end }
}

test('the document has a receiver in each language', () => {
  expect([...documented.keys()].toSorted()).toEqual(Object.keys(RECEIVERS).toSorted())
})

describe('the receiver in the document', () => {
  test.for(Object.entries(RECEIVERS))(
    '%s accepts each genuine message once, and refuses others',
    async ([file, { program, version, start }], { skip }) => {
      const isThere = await run(program, version).then(
        () => true,
        () => false,
      )
      skip(!isThere, `${program} is not installed`)
      const path = join(folder, file)
      await writeFile(path, documented.get(file) ?? '')
      const command = await start(path)
      const PORT = String(await freePort())
      const url = `http://127.0.0.1:${PORT}/hook`
      const passed: (Received & { status: number })[] = []
      // The first response is lost, so that the service repeats the delivery.
      const between = await startReceiver(async request => {
        const status = await post(url, request.body, request.headers)
        return passed.push({ ...request, status }) === 1 ? undefined : status
      })
      const { id, secret } = await createWebhook(service, `${between.url}/hook`, ['CONFIGURATION_CHANGED'])
      const receiver = await startProgram(command, { PORT, WEBHOOK_SECRET: secret })
      const event = { specversion: '1.0', id: file, source: '/receivers', type: 'CONFIGURATION_CHANGED' }
      await call(service, 'POST', '/events', { ...event, data: { größe: '1 MiB \u{1f680}' } })
      await vi.waitFor(() => expect(passed).toHaveLength(2))
      const [first, second] = passed
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
      expect(await post(url, first.body, sealed(secret, now, first.body))).toBe(204)
      expect(await post(url, `${first.body} `, first.headers)).toBe(400)
      expect(await post(url, first.body, sealed(other, now, first.body))).toBe(400)
      expect(await post(url, first.body, sealed(secret, old, first.body))).toBe(400)
      const renamed = { ...sealed(secret, now, first.body), 'webhook-id': 'another' }
      expect(await post(url, first.body, renamed)).toBe(400)

      // After a rotation the receiver still verifies with the old secret.
      await call(service, 'POST', `/webhooks/${id}/rotateSecret`)
      const { body: tested } = await call<{ id: string }>(service, 'POST', `/webhooks/${id}/test`)
      await vi.waitFor(() => expect(passed).toHaveLength(3))
      expect(passed[2]).toMatchObject({ status: 204, headers: { 'webhook-id': tested.id } })
      await vi.waitFor(() =>
        expect(receiver.output().trim().split(/\r?\n/)).toEqual([
          `noted ${messageId} CONFIGURATION_CHANGED`,
          `noted ${tested.id} TEST`,
        ]),
      )
      await receiver.end()
    },
  )
})
