import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { PROGRAM_ENVIRONMENT } from '@gantry/service-runtime/testing'
import { connect, nanos, StorageType } from 'nats'
import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { endsWithParent } from '../../bin/orphans.mjs'
import { makeCertificates } from './src/certificates.ts'
import { findNats } from './src/find-nats.ts'
import { ranOn } from './src/ran-on.ts'

const MAIN = join(import.meta.dirname, '../../services/operations/src/main.ts')
const folder = await mkdtemp(join(tmpdir(), 'gantry-replay-'))
afterAll(() => rm(folder, { recursive: true }))

const found = await findNats()
if (found.found) ranOn(found.description)
const certificates = await makeCertificates(folder)
const isProgram = found.found && (found.kind === 'path' || found.kind === 'installed')
const skipped = isProgram
  ? certificates
    ? undefined
    : 'there is no openssl'
  : 'needs nats-server as a program'

const eventOf = (number: number) => ({
  id: `5b1f1c9e-6d0f-4c58-9a43-${String(number).padStart(12, '0')}`,
  type: 'API_CREATED',
  time: '2026-11-21T09:30:00.000Z',
  position: `p${number}`,
})

/** A feed of four events. The last two come after the promise. */
async function feed(laterHalf: Promise<unknown>) {
  const server = createServer(async (request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' })
    const after = Number(new URL(request.url ?? '', 'http://feed').searchParams.get('after')?.slice(1) ?? 0)
    for (let number = after + 1; number <= 4; number++) {
      if (number === 3) await laterHalf
      response.write(`${JSON.stringify(eventOf(number))}\n`)
    }
    response.end()
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe.skipIf(skipped)('events replay --nats', { meta: { skipped } }, () => {
  const start = async () => {
    if (!found.found || !certificates) throw new Error('there is no NATS')
    const { certFile, keyFile, ca } = certificates
    const file = join(folder, 'nats.conf')
    await writeFile(
      file,
      `tls { cert_file: "${certFile}", key_file: "${keyFile}" }
authorization { users: [
  { user: admin, password: a-password }
  { user: stranger, password: a-password, permissions: { publish: "other.>" } }
] }`,
    )
    const nats = await found.start({ args: ['-c', file] })
    onTestFinished(() => nats.stop())
    const url = nats.url.replace('nats:', 'tls:')
    const admin = () =>
      connect({ servers: nats.url, user: 'admin', pass: 'a-password', tls: { ca }, reconnect: false })
    const replay = (baseUrl: string, subject: string, user = 'admin') => {
      const child = endsWithParent(
        spawn(process.execPath, [MAIN, 'events', 'replay', '--nats', url, '--subject', subject], {
          env: {
            ...PROGRAM_ENVIRONMENT,
            ...{ BASE_URL: baseUrl, GANTRY_TOKEN: 'pat_1' },
            ...{ NATS_USER: user, NATS_PASSWORD: 'a-password', NATS_CA: ca },
          },
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
      )
      const said = { text: '' }
      child.stderr.on('data', chunk => {
        said.text += chunk
      })
      void text(child.stdout)
      return { said, exit: once(child, 'close').then(([code]) => code as number) }
    }
    return { nats, admin, replay }
  }

  test('publishes each event once to a stream, across a restart of the server', async () => {
    const { nats, admin, replay } = await start()
    const before = await admin()
    const stream = { name: 'COPIES', subjects: ['copies.>'], storage: StorageType.File }
    await (await before.jetstreamManager()).streams.add({ ...stream, duplicate_window: nanos(60_000) })
    const restarted = Promise.withResolvers<void>()
    const { said, exit } = replay(await feed(restarted.promise), 'copies.events')
    const count = async (nc: typeof before) =>
      (await (await nc.jetstreamManager()).streams.info('COPIES')).state.messages
    await vi.waitFor(async () => expect(await count(before), said.text).toBe(2))
    await nats.faults?.kill()
    restarted.resolve()
    await vi.waitFor(() => expect(said.text).toMatch(/cannot connect to NATS again: .*; trying again in/))
    await nats.faults?.restart()
    expect(await exit, said.text).toBe(0)
    expect(said.text).not.toContain('a-password')
    const after = await admin()
    expect(await count(after)).toBe(4)
    const { data, header } = await (await after.jetstreamManager()).streams.getMessage('COPIES', { seq: 4 })
    expect([JSON.parse(new TextDecoder().decode(data)), header.get('Nats-Msg-Id')]).toEqual([
      eventOf(4),
      eventOf(4).id,
    ])
    await after.close()
  })

  test('waits when no stream stores the events any more after a restart of the server', async () => {
    const { nats, admin, replay } = await start()
    const before = await admin()
    const stream = { name: 'COPIES', subjects: ['copies.>'], storage: StorageType.File }
    const { streams } = await before.jetstreamManager()
    await streams.add(stream)
    const restarted = Promise.withResolvers<void>()
    const { said, exit } = replay(await feed(restarted.promise), 'copies.events')
    await vi.waitFor(
      async () => expect((await streams.info('COPIES')).state.messages, said.text).toBe(2),
      60_000,
    )
    await streams.delete('COPIES')
    await nats.faults?.kill()
    await nats.faults?.restart()
    restarted.resolve()
    await vi.waitFor(
      () => expect(said.text).toMatch(/no stream stores copies.events any more; trying again in/),
      60_000,
    )
    const after = await admin()
    const { streams: current } = await after.jetstreamManager()
    await current.add(stream)
    expect(await exit, said.text).toBe(0)
    expect((await current.info('COPIES')).state.messages).toBe(2)
    await after.close()
  })

  test('fails when the user may not publish to the subject', async () => {
    const { replay } = await start()
    const { said, exit } = replay(await feed(Promise.resolve()), 'copies.events', 'stranger')
    expect(await exit).toBe(1)
    expect(said.text).toContain('the user may not publish to copies.events')
  })
})
