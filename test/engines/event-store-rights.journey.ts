import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventStoreDBClient } from '@eventstore/db-client'
import {
  type EventStore,
  EventStoreUnavailable,
  type Log,
  type NewEvent,
  NO_STREAM,
  START,
} from '@gantry/event-sourcing'
import { checkEventStore, EventStoreUrlRefused, esdbEventStore } from '@gantry/event-store-esdb'
import { watchBackingStores } from '@gantry/hosting'
import { openStores } from '@gantry/hosting/stores'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type Certificates, makeCertificates } from './src/certificates.ts'
import { startEsdbStandIn } from './src/esdb-stand-in.ts'
import { ADMIN_PASSWORD, createUser, startNode } from './src/event-store-command.ts'
import { eventStoreCommand } from './src/find-event-store.ts'
import { run } from './src/program.ts'
import { ranOn } from './src/ran-on.ts'
import { tlsFront } from './src/tls-front.ts'

const folder = await mkdtemp(join(tmpdir(), 'gantry-rights-'))
afterAll(() => rm(folder, { recursive: true }))
const command = eventStoreCommand()
const certificates = await makeCertificates(folder, command ? 'rsa' : 'ec')
const skipped = 'there is no openssl'
ranOn(command ?? 'a stand-in for EventStoreDB')

/** Starts a server with TLS that has the users `admin`, and `gantry` without groups. */
async function startSecured(certificates: Certificates): Promise<{ port: number; stop(): Promise<void> }> {
  const { ca } = certificates
  if (command) {
    const node = await startNode(command, { certificates, inMemory: true })
    await createUser(node.url, 'gantry', 'sesame', ca)
    return { port: Number(new URL(node.url).port), stop: node.stop }
  }
  const users = [
    { name: 'gantry', password: 'sesame' },
    { name: 'admin', password: ADMIN_PASSWORD, admin: true },
  ]
  const standIn = await startEsdbStandIn({ path: join(folder, randomUUID()), users })
  const front = await tlsFront(standIn.port, certificates)
  const stop = async () => {
    await front.stop()
    await standIn.stop()
  }
  return { port: front.port, stop }
}

const placed = (number: number): NewEvent => ({
  id: randomUUID(),
  type: 'OrderPlaced',
  data: { number },
  metadata: { actor: { id: null, name: 'test' }, requestId: 'r1', at: '2026-11-21T10:00:00.000Z' },
})

describe.skipIf(!certificates)('a user of EventStoreDB without groups', { meta: { skipped } }, () => {
  let url: (user: string) => string
  let host: string
  let admin: EventStoreDBClient
  let eventStore: EventStore

  beforeEach(async () => {
    if (!certificates) throw new Error('unreachable')
    const server = await startSecured(certificates)
    host = `localhost:${server.port}`
    url = user => `esdb://${user}${host}?tlsCAFile=${certificates.caFile}`
    admin = EventStoreDBClient.connectionString(url(`admin:${ADMIN_PASSWORD}@`))
    eventStore = esdbEventStore({ connectionString: url('gantry:sesame@') })
    onTestFinished(async () => {
      await eventStore.close()
      await admin.dispose()
      await server.stop()
    })
  }, 120_000)

  /** Runs the script of docs/operations.md that grants the right to read $all. */
  const letReadAll = async () => {
    const docs = await readFile(join(import.meta.dirname, '../../docs/operations.md'), 'utf8')
    const [, script = ''] = /^node --input-type=module -e '(.*?)' 'esdb:/ms.exec(docs) ?? []
    const args = ['--input-type=module', '-e', script, url(`admin:${ADMIN_PASSWORD}@`)]
    await run(process.execPath, args, { cwd: import.meta.dirname, timeoutMs: 60_000 })
  }

  const callsOf = (store: EventStore) => ({
    head: () => store.head(),
    readAll: () => store.readAll({ after: START })[Symbol.asyncIterator]().next(),
    subscribe: () =>
      store.subscribe({ after: START, signal: new AbortController().signal })[Symbol.asyncIterator]().next(),
    readStream: () => store.readStream('order-1'),
    append: () => store.append('order-1', [placed(2)], 0),
    remove: () => store.remove('order-1', 0),
  })
  type Call = keyof ReturnType<typeof callsOf>

  const expectRefused = async (call: () => Promise<unknown>, message: string) => {
    const error = await call().catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(EventStoreUrlRefused)
    expect(error).not.toBeInstanceOf(EventStoreUnavailable)
    expect(error).toMatchObject({ message })
  }

  test.each<Call>(['head', 'readAll', 'subscribe'])(
    '%s names the setting and the missing right to $all',
    async name => {
      await expectRefused(
        callsOf(eventStore)[name],
        `EVENT_STORE_URL names the user gantry, which has no right to read $all of EventStoreDB at ${host} (PERMISSION_DENIED)`,
      )
    },
  )

  test.each<[Call, string]>([
    ['readStream', 'read the stream order-1'],
    ['append', 'append to the stream order-1'],
    ['remove', 'append to and delete the stream order-1'],
  ])('%s names the setting and the missing right to the stream', async (name, right) => {
    await eventStore.append('order-1', [placed(1)], NO_STREAM)
    const acl = { readRoles: ['$admins'], writeRoles: ['$admins'], deleteRoles: ['$admins'] }
    await admin.setStreamMetadata('order-1', { acl })
    await expectRefused(
      callsOf(eventStore)[name],
      `EVENT_STORE_URL names the user gantry, which has no right to ${right} of EventStoreDB at ${host} (PERMISSION_DENIED)`,
    )
    await eventStore.append('order-2', [placed(1)], NO_STREAM)
  })

  test.each<[string, string]>([
    ['gantry:wrong@', 'names the user gantry, whose name or password is not accepted by'],
    ['', 'names no user, which is not accepted by'],
  ])('every call refuses a URL with the user "%s"', async (user, reason) => {
    const other = esdbEventStore({ connectionString: url(user) })
    onTestFinished(() => other.close())
    for (const call of Object.values(callsOf(other))) {
      await expectRefused(call, `EVENT_STORE_URL ${reason} EventStoreDB at ${host} (UNAUTHENTICATED)`)
    }
  })

  test.each([
    ['an unknown certificate authority', '?tls=true'],
    ['no TLS', '?tls=false'],
  ])('is refused with %s by an error with the setting and no password', async (_, options) => {
    const refused = checkEventStore(`esdb://gantry:sesame@${host}${options}`, 3_000)
    await expect(refused).rejects.toThrow(`EVENT_STORE_URL: EventStoreDB does not answer at ${host}`)
    await expect(refused).rejects.not.toThrow(/sesame/)
  })

  test('can do everything once it has the right to read $all', async () => {
    await letReadAll()
    await eventStore.append('order-1', [placed(1)], NO_STREAM)
    await eventStore.append('order-2', [placed(2)], NO_STREAM)
    await eventStore.remove('order-2', 0)
    const { head, readAll, subscribe, readStream, append } = callsOf(eventStore)
    for (const call of [head, readAll, subscribe, readStream, append]) await call()
    expect(await eventStore.head()).not.toBe(START)
  })

  test('the log of a service names the missing right, and readiness names the setting', async () => {
    const settings = {
      EVENT_STORE_URL: url('gantry:sesame@'),
      READ_MODEL_URL: `sqlite:${join(folder, 'views')}`,
    }
    const stores = openStores(settings)
    const lines: string[] = []
    const note = (_: object, line: string) => void lines.push(line)
    const watch = watchBackingStores(stores.backingStores, { info: note, error: note } as unknown as Log)
    onTestFinished(async () => {
      watch.stop()
      await stores.close()
    })
    const reason = 'has no right to read $all'
    await expect.poll(() => lines, { timeout: 60_000 }).toEqual([expect.stringContaining(reason)])
    expect(watch.trouble()).toBe('the backing store of EVENT_STORE_URL')

    await letReadAll()
    await watch.usable
    expect(watch.trouble()).toBeUndefined()
  })
})
