import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from '@gantry/service-kit/testing'
import { expect, onTestFinished, test } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'

const PROGRAM = join(import.meta.dirname, '../../services/gateway/src/main.ts')

/** A gateway whose services are not running, and its log messages. */
async function lonelyGateway() {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-waits-'))
  const nowhere = `http://127.0.0.1:${await freePort()}`
  const port = await freePort()
  const child = endsWithParent(
    spawn(process.execPath, [PROGRAM], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        HOST: '127.0.0.1',
        PORT: String(port),
        SHUTDOWN_DELAY: '0s',
        ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
        MESSAGING_URL: `sqlite:${join(folder, 'messages.db')}`,
        CATALOG_URL: nowhere,
        IDENTITY_URL: nowhere,
        MEDIA_URL: nowhere,
        NOTIFIER_URL: nowhere,
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

test('a starting process logs what it waits for, reports it at /health/ready, and can be stopped', async () => {
  const { child, port, logged } = await lonelyGateway()
  expect(await logged('waits for')).toBe('waits for the reference time from identity')
  const answer = await fetch(`http://127.0.0.1:${port}/health/ready`)
  expect([answer.status, ((await answer.json()) as { detail: string }).detail]).toEqual([
    503,
    'waits for the reference time from identity',
  ])
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([0, null])
}, 60_000)
