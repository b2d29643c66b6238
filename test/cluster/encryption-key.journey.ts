import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, PROGRAM_ENVIRONMENT } from '@gantry/service-kit/testing'
import { afterAll, expect, test } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'
import { startReplica } from './src/replica.ts'

const ROOT = join(import.meta.dirname, '../..')
const program = (service: string) => join(ROOT, 'services', service, 'src/main.ts')

const folder = await mkdtemp(join(tmpdir(), 'gantry-encryption-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const environment = async (key: number) => ({
  ...PROGRAM_ENVIRONMENT,
  HOST: '127.0.0.1',
  PORT: String(await freePort()),
  INTERNAL_PORT: '0',
  LOG_LEVEL: 'error',
  SHUTDOWN_DELAY: '0s',
  ENCRYPTION_KEY: Buffer.alloc(32, key).toString('base64'),
  EVENT_STORE_URL: `sqlite:${join(folder, 'events.db')}`,
  READ_MODEL_URL: `sqlite:${join(folder, 'read-models.db')}`,
  MESSAGING_URL: `sqlite:${join(folder, 'messages.db')}`,
})
const starts = async (service: string, key: number) => {
  const own = await environment(key)
  const replica = startReplica({
    name: service,
    program: { args: [program(service)], cwd: folder },
    port: Number(own.PORT),
    environment: own,
    healthUrl: `http://127.0.0.1:${own.PORT}/health/ready`,
    logFolder: folder,
    say: () => {},
  })
  await replica.ready
  await replica.stop()
}

test('a service with an ENCRYPTION_KEY other than that of the log exits with one line and damages nothing', async () => {
  await starts('catalog', 1)
  for (const service of ['identity', 'notifier', 'catalog']) {
    const child = endsWithParent(spawn(process.execPath, [program(service)], { env: await environment(2) }))
    let said = ''
    child.stderr.on('data', chunk => (said += chunk))
    expect((await once(child, 'close'))[0]).toBe(1)
    expect(said).toMatch(
      new RegExp(
        `^gantry ${service}: wrong settings\n {2}ENCRYPTION_KEY: is not the key .* log was created with.*\n$`,
      ),
    )
  }
  for (const service of ['catalog', 'identity']) await starts(service, 1)
}, 120_000)
