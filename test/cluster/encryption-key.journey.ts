import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { freePort, PROGRAM_ENVIRONMENT } from '@gantry/service-kit/testing'
import { afterAll, expect, test } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'

const ROOT = join(import.meta.dirname, '../..')
const program = (service: string) => join(ROOT, 'services', service, 'src/main.ts')

const folder = await mkdtemp(join(tmpdir(), 'gantry-encryption-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const environment = async (key: number) => ({
  ...PROGRAM_ENVIRONMENT,
  HOST: '127.0.0.1',
  PORT: String(await freePort()),
  INTERNAL_PORT: '0',
  LOG_LEVEL: 'info',
  SHUTDOWN_DELAY: '0s',
  ENCRYPTION_KEY: Buffer.alloc(32, key).toString('base64'),
  EVENT_STORE_URL: `sqlite:${join(folder, 'events.db')}`,
  READ_MODEL_URL: `sqlite:${join(folder, 'read-models.db')}`,
  MESSAGING_URL: `sqlite:${join(folder, 'messages.db')}`,
})
const start = async (service: string, key: number) => {
  const child = endsWithParent(
    spawn(process.execPath, [program(service)], {
      env: await environment(key),
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  )
  const said = text(child.stderr)
  for await (const line of createInterface({ input: child.stdout }))
    if (JSON.parse(line).msg === 'ready') child.kill('SIGTERM')
  if (child.exitCode === null) await once(child, 'exit')
  return { code: child.exitCode, said: await said }
}

test('a service with an ENCRYPTION_KEY other than that of the log exits with one line and damages nothing', async () => {
  expect(await start('catalog', 1)).toEqual({ code: 0, said: '' })
  expect(await start('notifier', 2)).toEqual({
    code: 1,
    said: expect.stringMatching(
      /^gantry notifier: wrong settings\n {2}ENCRYPTION_KEY: is not the key .* log was created with.*\n$/,
    ),
  })
  expect(await start('notifier', 1)).toEqual({ code: 0, said: '' })
})
