import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DataFolderRefused } from '@gantry/embedded'
import { answerProblem, localPeers, passedPrincipals, type ServerOptions } from '@gantry/service-runtime'
import Fastify from 'fastify'
import { pino } from 'pino'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { internalRequests } from './internal-requests.ts'
import { answerOperators, processOn, servicesAt } from './operators.ts'

const echo = {
  service: 'standalone',
  id: 'standalone.echo',
  asked: z.string(),
  answer: z.string(),
  timeoutMs: 5_000,
}
const about: Pick<ServerOptions, 'log' | 'now'> = { log: pino({ level: 'silent' }), now: () => new Date() }
const ask = () => processOn(folder).ask(echo, 'hello')

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-operators-'))
  const made = folder
  onTestFinished(() => rm(made, { recursive: true }))
})

async function answering() {
  const peers = localPeers()
  peers.answer(echo, async text => text)
  return answerOperators(folder, peers, about)
}

test('a process answers at a socket of its user alone, also after its predecessor was killed', async () => {
  await expect(ask()).rejects.toMatchObject({ mayBeDone: false, reason: 'ENOENT' })
  const socket = JSON.stringify(join(folder, 'operators.sock'))
  const listen = `require('node:net').createServer().listen(${socket}, () => process.kill(process.pid, 'SIGKILL'))`
  expect(spawnSync(process.execPath, ['-e', listen]).signal).toBe('SIGKILL')
  await expect(ask()).rejects.toMatchObject({ mayBeDone: false, reason: 'ECONNREFUSED' })

  const stop = await answering()
  expect(await ask()).toBe('hello')
  expect((await stat(join(folder, 'operators.sock'))).mode & 0o777).toBe(0o600)
  await stop()
  await expect(ask()).rejects.toMatchObject({ mayBeDone: false, reason: 'ENOENT' })
})

test('a folder whose path is too long for a socket is refused', async () => {
  folder = join(folder, 'x'.repeat(100))
  await mkdir(folder)
  await expect(answering()).rejects.toThrow(DataFolderRefused)
  await expect(answering()).rejects.toThrow('has a path that is too long for a socket')
  await expect(ask()).rejects.toMatchObject({ mayBeDone: false })
})

test('an operator asks separate services with their key, also from a machine whose clock is wrong', async () => {
  const now = () => new Date('2099-11-21T10:00:00.000Z')
  const app = Fastify()
  onTestFinished(() => app.close())
  app.setErrorHandler((error, request, reply) => answerProblem(error, request, reply, now()))
  const key = Buffer.alloc(32, 1)
  const { vouched } = await passedPrincipals(app, { key, now })
  const inside = internalRequests({ services: {}, basePath: '', pass: () => '' })
  inside.answer(echo, async text => text)
  app.get('/health/ready', async () => ({ status: 'ready', time: now().toISOString() }))
  await app.register(async scope => inside.routes(scope, vouched))
  const urls = { standalone: [await app.listen({ host: '127.0.0.1', port: 0 })] }
  const asking = async (own: Uint8Array) =>
    (await servicesAt(urls, { basePath: '', key: own })).ask(echo, 'a')
  expect(await asking(key)).toBe('a')
  await expect(asking(Buffer.alloc(32, 2))).rejects.toMatchObject({
    mayBeDone: false,
    reason: 'PRINCIPAL_KEY or ENCRYPTION_KEY differs',
  })
})
