import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort, PROGRAM_ENVIRONMENT } from '@gantry/service-runtime/testing'
import { expect, onTestFinished, test } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'

const PROGRAM = join(import.meta.dirname, '../../services/gateway/src/main.ts')

/** A gateway with its log messages. By default its services are not running. */
async function openGateway({ services, ...settings }: { services?: string } & NodeJS.ProcessEnv = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-waits-'))
  const url = services ?? `http://127.0.0.1:${await freePort()}`
  const port = await freePort()
  const child = endsWithParent(
    spawn(process.execPath, [PROGRAM], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...PROGRAM_ENVIRONMENT,
        HOST: '127.0.0.1',
        PORT: String(port),
        SHUTDOWN_DELAY: '0s',
        ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
        MESSAGING_URL: `sqlite:${join(folder, 'messages.db')}`,
        CATALOG_URL: url,
        IDENTITY_URL: url,
        MEDIA_URL: url,
        NOTIFIER_URL: url,
        ...settings,
      },
    }),
  )
  child.stderr.pipe(process.stderr, { end: false })
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'close')
    }
    await rm(folder, { recursive: true })
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    port,
    async logged(text: string) {
      for (;;) {
        const { value, done } = await lines.next()
        if (done) throw new Error(`the process exited without logging ${text}`)
        const { msg } = JSON.parse(value) as { msg: string }
        if (msg.includes(text)) return msg
      }
    },
  }
}

async function readiness(port: number) {
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`)
  return [answer.status, ((await answer.json()) as { detail: string }).detail]
}

test('a starting process logs what it waits for, reports it at /health/ready, and can be stopped', async () => {
  const { child, port, logged } = await openGateway()
  // A slow start first waits for its own routes.
  expect(await logged('waits for the reference')).toBe('waits for the reference time from identity')
  expect(await readiness(port)).toEqual([503, 'waits for the reference time from identity'])
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([0, null])
})

/** A server that answers as ready services do. */
async function openServices() {
  const services = createServer((_, response) =>
    response.end(JSON.stringify({ status: 'ready', time: new Date() })),
  )
  await once(services.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void services.close())
  return `http://127.0.0.1:${(services.address() as AddressInfo).port}`
}

test('a process that shuts down says so at /health/ready for SHUTDOWN_DELAY', async () => {
  const services = await openServices()
  const { child, port, logged } = await openGateway({ services, SHUTDOWN_DELAY: '60s' })
  await logged('ready')
  child.kill('SIGTERM')
  await logged('shutting down')
  expect(await readiness(port)).toEqual([503, 'shutting down'])
})

test('a request that does not end delays the exit until SHUTDOWN_TIMEOUT after the delay, and the exit code is 0', async () => {
  const services = await openServices()
  const { child, port, logged } = await openGateway({
    services,
    // Long enough for a request within it on a loaded machine.
    SHUTDOWN_DELAY: '3s',
    SHUTDOWN_TIMEOUT: '1s',
  })
  await logged('ready')
  const endless = connect(port, '127.0.0.1').on('error', () => {})
  endless.resume().write('POST /login HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{')
  const startedAt = performance.now()
  const ended = once(child, 'close')
  child.kill('SIGTERM')
  await logged('shutting down')
  const answer = await fetch(`http://127.0.0.1:${port}/health/live`)
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close'])
  await logged('closes connections whose requests have not ended within SHUTDOWN_TIMEOUT')
  await logged('stopped')
  expect(await ended).toEqual([0, null])
  expect(performance.now() - startedAt).toBeGreaterThan(3_900)
})
