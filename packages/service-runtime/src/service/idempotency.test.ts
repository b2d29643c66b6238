import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccessToken, createVersion, type ProblemCode, Refusal, subjects } from '@gantry/contracts'
import { sqliteReadModels } from '@gantry/embedded'
import { aggregate, type CommandMetadata, EventStoreUnavailable, NO_STREAM } from '@gantry/event-sourcing'
import {
  type CounterCommand,
  type CounterEvent,
  type CounterState,
  counterDecider,
} from '@gantry/event-sourcing/testing'
import { defineCollection, type ReadModels } from '@gantry/stores'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { router } from '../http/routes.ts'
import { type EncryptionKeys, parseEncryptionKeys, plainKey } from '../secrets/encryption-keys.ts'
import { administrator, type Host, hostService } from '../testing/index.ts'
import { instrumented } from './append-watch.ts'
import { forgettingUsers } from './idempotency.ts'
import type { Dependencies, Service } from './service.ts'

const SECOND = 1_000
const bytes = (n: number) => Buffer.alloc(32, n)
const HOUR = 3_600_000
const TOKEN = { name: 'pipeline', scopes: ['API_READ'] }
const OTHER = { ...TOKEN, name: 'another' }
const CLOSED = { ...TOKEN, name: 'closed' }
const DRY_RUN = z.object({ dryRun: z.literal('true').optional() })

/** How the log behaves: 'lost' fails before the append, 'unacknowledged' fails after it, 'up' works. */
let log: 'lost' | 'unacknowledged' | 'up'
let time: number
/** Called by the route before and after its command. */
let before: () => unknown
let after: () => unknown
/** Metadata of the commands that were executed. */
let commands: CommandMetadata[]
/** The keys of ENCRYPTION_KEY, read at the start of the service. */
let keys: EncryptionKeys
/** Secrets that the route made. */
let tokens: string[]
let host: Host<Service>
/** Read models for the idempotency records only; they use the test's clock. */
let records: ReadModels
let folder: string

/** A service whose resources are counters. Each command adds one, so a count above one shows a repeated command. */
function countingService(given: Dependencies): Service {
  const { eventStore } = given
  const dependencies = instrumented({
    ...given,
    encryptionKeys: { ...given.encryptionKeys, ...keys },
    readModels: records,
    eventStore: {
      ...eventStore,
      async append(...append: Parameters<typeof eventStore.append>) {
        if (log === 'lost') throw new EventStoreUnavailable('lost')
        const appended = await eventStore.append(...append)
        if (log === 'unacknowledged') throw new EventStoreUnavailable('unacknowledged')
        return appended
      },
      async readStream(...read: Parameters<typeof eventStore.readStream>) {
        if (log !== 'up') throw new EventStoreUnavailable('away')
        return eventStore.readStream(...read)
      },
    },
  })
  const counter = aggregate<CounterState, CounterCommand, CounterEvent>({
    eventStore: dependencies.eventStore,
    category: 'counter',
    decider: counterDecider,
  })
  return {
    name: 'counting',
    projectors: [],
    lag: async () => [],
    routes(app, admit) {
      const route = router(app, admit, dependencies, 'counting')
      const responses = { 201: { description: 'Counted', schema: z.unknown() } }
      route(
        { ...createAccessToken, query: DRY_RUN, responses },
        async ({ body, metadata, newId, secretBytes }) => {
          const id = newId()
          const token = secretBytes(8).toString('hex')
          tokens.push(token)
          await before()
          commands.push(metadata)
          const stream = body.name === CLOSED.name ? 'closed' : id
          const { state } = await counter.execute(stream, { type: 'Count', by: 1, metadata })
          await after()
          return { status: 201, body: { id, name: body.name, token, count: state.count } }
        },
      )
      route({ ...createVersion, responses }, async ({ params, newId }) => ({
        status: 201,
        body: { id: newId(), api: params.api_id },
      }))
    },
    start: async () => {},
    waitingFor: () => undefined,
    release: async () => {},
    stop: async () => {},
  }
}

beforeEach(async () => {
  log = 'up'
  time = Date.parse('2026-11-21T10:00:00.000Z')
  before = after = () => {}
  commands = []
  tokens = []
  keys = plainKey(bytes(1))
  folder = await mkdtemp(join(tmpdir(), 'gantry-idempotency-'))
  records = sqliteReadModels({ path: join(folder, 'records.db'), now: () => new Date(time) })
  host = await hostService(countingService, { now: () => new Date(time) })
})
afterEach(async () => {
  await host.close()
  await records.close()
  await rm(folder, { recursive: true })
})

const ask = async (payload: object, key = 'k-1', { url = '/accessTokens', headers = {} } = {}) => {
  const answer = await host.app.inject({
    method: 'POST',
    url,
    headers: { 'idempotency-key': key, ...headers },
    payload,
  })
  return {
    status: answer.statusCode,
    replayed: answer.headers['idempotency-replayed'] === 'true',
    body: answer.json(),
  }
}
const remembered = () =>
  records.collection(
    defineCollection<{ id: string; user: string; requestHash: string; sealed: string }>({
      name: 'counting.idempotency',
      version: 1,
      fields: {},
    }),
  )
const stored = async () => (await remembered().list({ limit: 10 })).map(({ doc }) => doc)
const reused = { status: 422, body: { code: 'idempotency-key-reused' } }
const refuse = (code: ProblemCode) => () => {
  throw new Refusal(code)
}

test('a record can neither be opened nor compared without ENCRYPTION_KEY, nor without the idempotency key', async () => {
  await ask(TOKEN)
  const [first] = (await stored()) as [Awaited<ReturnType<typeof stored>>[0]]
  await ask(TOKEN, 'k-2')
  const hashes = (await stored()).map(({ requestHash }) => requestHash)
  keys = plainKey(bytes(2))
  await host.restart()
  time += 25 * HOUR
  await ask(TOKEN)
  const { doc, revision = 0 } = (await remembered().latest(first.id)) ?? {}
  if (!doc) throw new Error('the record of the second use is missing')
  expect(new Set([...hashes, doc.requestHash]).size).toBe(3)
  expect((await ask(TOKEN)).replayed).toBe(true)
  await remembered().put({ ...doc, sealed: first.sealed }, revision + 1)
  expect((await ask(TOKEN)).status).toBe(500)
})

describe('of a user who ends', () => {
  const USER = '44444444-4444-4444-8444-444444444444'
  const asUser = () => host.actAs({ ...administrator, userId: USER })
  const end = (type: 'USER_DELETED' | 'USER_ERASED') => {
    const event = { id: randomUUID(), type, source: 'identity', subject: USER, revision: 1, requestId: 'r' }
    const data = { ...event, time: new Date(time).toISOString(), data: {}, actor: { id: null, name: 'test' } }
    const message = { id: event.id, subject: subjects.events('identity', type), data, sequence: 1 }
    return forgettingUsers('counting', records).react({ ...message, storedAt: data.time })
  }

  test('the answers are removed, after an erasure also those to others that mention the user, which create nothing again', async () => {
    const other = await ask(TOKEN, 'k-2')
    const { body } = await ask({ ...TOKEN, name: USER }, 'k-3')
    asUser()
    await ask(TOKEN)
    await end('USER_DELETED')
    expect((await stored()).map(({ user }) => user)).toEqual([administrator.userId, administrator.userId])
    host.actAs(administrator)
    expect(await ask({ ...TOKEN, name: USER }, 'k-3')).toMatchObject({ replayed: true, body })

    await end('USER_ERASED')
    expect(await ask(TOKEN, 'k-2')).toEqual({ ...other, replayed: true })
    expect(JSON.stringify(await stored())).not.toContain(USER)
    expect(await ask(OTHER, 'k-3')).toMatchObject(reused)
    expect(await ask({ ...TOKEN, name: USER }, 'k-3')).toMatchObject({ replayed: false, body })
  })

  test('an answer that is made meanwhile is not kept', async () => {
    asUser()
    after = () => end('USER_DELETED')
    expect((await ask(TOKEN)).status).toBe(201)
    expect(await stored()).toEqual([])
  })
})

describe('a key that has expired', () => {
  /** Sends a request, after which the service removes expired records. */
  const removeExpired = () => ask(TOKEN, `sweep-${time}`)

  test.for<[string, () => unknown]>([
    ['still exists', () => {}],
    ['was removed', removeExpired],
  ])('creates a new resource with each use if its record %s', async ([, sweep]) => {
    const ids = new Set<string>()
    for (let use = 1; use <= 3; use++) {
      const first = await ask(TOKEN)
      expect(first).toMatchObject({ status: 201, replayed: false, body: { count: 1 } })
      expect(await ask(TOKEN)).toEqual({ ...first, replayed: true })
      ids.add(first.body.id)
      expect(ids.size).toBe(use)
      time += 25 * HOUR
      await sweep()
    }
    expect(commands.filter(({ repeated }) => repeated)).toEqual([])
  })

  test('is looked for at one of 16 uses of other keys, and removed with ten for each of these', async () => {
    const expired = Array.from({ length: 300 }, (_, n) => ({ id: `${n}`, expiresAt: time }))
    await Promise.all(expired.map(record => remembered().put(record as never, 1)))
    time++
    const leftAfter = async (uses: number[]) => {
      for (const n of uses) await ask(TOKEN, `k-${n}`)
      return (await remembered().count({})) - 1 - (uses.at(-1) ?? 0)
    }
    expect(await leftAfter([0])).toBe(140)
    expect(await leftAfter([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])).toBe(140)
    expect(await leftAfter([16])).toBe(0)
  })

  test('leaves a tombstone for one or two months, and creates a new resource after it', async () => {
    const ids = new Set<string>()
    for (let use = 1; use <= 3; use++) {
      const { body } = await ask(TOKEN)
      ids.add(body.id)
      expect(ids.size).toBe(use)
      const id = (await stored())[0]?.id ?? ''
      time += 25 * HOUR
      await removeExpired()
      expect(await remembered().latest(id)).toEqual({ doc: null, revision: expect.any(Number) })
      for (const _ of [1, 2]) {
        time += 33 * 24 * HOUR
        await removeExpired()
      }
      await vi.waitFor(async () => expect(await remembered().latest(id)).toBeUndefined())
    }
  })
})

describe('after an unknown outcome', () => {
  const lost = async (state: typeof log, body: object = TOKEN) => {
    log = state
    expect(await ask(body)).toMatchObject({ status: 503, body: { code: 'unavailable' } })
    log = 'up'
  }

  test.for<typeof log>(['lost', 'unacknowledged'])(
    'of an append that was %s, the same request is executed once and another one is refused',
    async state => {
      await lost(state)
      expect(await ask(OTHER)).toMatchObject(reused)
      const second = await ask(TOKEN)
      expect(second).toMatchObject({ status: 201, body: { name: 'pipeline', count: 1 } })
      expect(commands.map(({ repeated }) => repeated)).toEqual([undefined, true])
      expect(new Set(commands.map(({ commandId }) => commandId)).size).toBe(1)
      expect(await ask(TOKEN)).toEqual({ ...second, replayed: true })
      expect(await ask(OTHER)).toMatchObject(reused)
    },
  )

  test.for([
    ['half a minute later', 31 * SECOND],
    ['at once when the clock was set back', -3_600 * SECOND],
  ] as const)(
    'of a process that died, the same request is executed %s, and another one is refused',
    async ([, later]) => {
      let die = () => {}
      before = () => new Promise<void>((_, reject) => (die = () => reject(new Error('died'))))
      const first = ask(TOKEN)
      await expect.poll(() => ask(TOKEN)).toMatchObject({ body: { code: 'request-in-progress' } })
      expect(await ask(OTHER)).toMatchObject(reused)
      time += later
      before = () => {}
      expect(await ask(OTHER)).toMatchObject(reused)
      expect(await ask(TOKEN)).toMatchObject({ status: 201, replayed: false, body: { count: 1 } })
      expect(commands.map(({ repeated }) => repeated)).toEqual([true])
      die()
      expect((await first).status).toBe(500)
      expect(await ask(TOKEN)).toMatchObject({ status: 201, replayed: true })
    },
  )

  describe('a repeated request gets the secret of its first try', () => {
    const [old, next] = [1, 2].map(n => bytes(n).toString('base64'))
    const restart = (setting: string) => {
      keys = parseEncryptionKeys(setting)
      return host.restart()
    }

    // Another secret would not be the one that the first try has stored.
    test.for([
      ['0 and now has 0', `${old}`, `1:${next},0:${old}`],
      ['0 and now has b', `${old}`, `0:${next},b:${old}`],
      ['a and now has b', `a:${old}`, `a:${next},b:${old}`],
    ])('from its key, which had the id %s', async ([, first = '', then = '']) => {
      await restart(first)
      await lost('unacknowledged')
      await restart(`1:${next}`)
      expect((await ask(TOKEN)).status).toBe(500)
      await restart(then)
      expect((await ask(TOKEN)).body).toMatchObject({ count: 1, token: tokens[0] })
      expect(tokens).toEqual([tokens[0], tokens[0]])
      expect(await ask(TOKEN)).toMatchObject({ replayed: true, body: { token: tokens[0] } })
      expect(await ask(OTHER)).toMatchObject(reused)
      expect((await ask(TOKEN, 'k-2')).body.token).not.toBe(tokens[0])
    })
  })

  test('a refusal does not free the key, because the earlier append may still be found', async () => {
    await lost('unacknowledged')
    before = refuse('user-not-found')
    expect((await ask(TOKEN)).status).toBe(404)
    before = () => {}
    expect(await ask(OTHER)).toMatchObject(reused)
    expect(await ask(TOKEN)).toMatchObject({ status: 201, body: { name: 'pipeline', count: 1 } })
  })
})

describe('after a refusal', () => {
  test('before any append, the key may be used for a corrected request', async () => {
    before = refuse('scopes-exceeded')
    expect((await ask(TOKEN)).status).toBe(403)
    before = () => {}
    expect(await ask(OTHER)).toMatchObject({ status: 201, body: { name: 'another', count: 1 } })
    expect(commands.map(({ repeated }) => repeated)).toEqual([undefined])
  })

  test('by the decider, the key may be used for another body', async () => {
    const metadata = { actor: { id: null, name: 'test' }, requestId: 'r', at: new Date(time).toISOString() }
    const event = { id: randomUUID(), type: 'Closed', data: {}, metadata }
    await host.dependencies.eventStore.append('counter-closed', [event], NO_STREAM)
    expect((await ask(CLOSED)).status).toBe(409)
    expect(await ask(OTHER)).toMatchObject({ status: 201, body: { name: 'another', count: 1 } })
    expect(commands.map(({ repeated }) => repeated)).toEqual([undefined, undefined])
  })

  test('after an append, another body is refused, and the same request returns what it had created', async () => {
    after = refuse('access-token-not-found')
    expect((await ask(TOKEN)).status).toBe(404)
    after = () => {}
    expect(await ask(OTHER)).toMatchObject(reused)
    expect(await ask(TOKEN)).toMatchObject({ status: 201, body: { count: 1 } })
    expect(commands.map(({ repeated }) => repeated)).toEqual([undefined, true])
  })
})

describe('the same key', () => {
  test.for<[string, { url?: string; headers?: Record<string, string> }]>([
    ['another query', { url: '/accessTokens?dryRun=true' }],
    ['another If-Match', { headers: { 'if-match': '"1"' } }],
  ])('with %s is refused', async ([, sent]) => {
    expect((await ask(TOKEN)).status).toBe(201)
    expect(await ask(TOKEN, 'k-1', sent)).toMatchObject(reused)
    expect((await ask(TOKEN, 'k-2', sent)).status).toBe(201)
    expect(await ask(TOKEN, 'k-2', sent)).toMatchObject({ status: 201, replayed: true })
    expect(await ask(TOKEN, 'k-2')).toMatchObject(reused)
  })
})

describe('a secret', () => {
  const as = (credentialId: string) => {
    host.actAs({ ...administrator, credentialId })
    return ask(TOKEN)
  }

  test('is returned to the credential that completed a request begun by another one', async () => {
    log = 'unacknowledged'
    expect((await as('login-1')).status).toBe(503)
    log = 'up'
    const { body } = await as('login-2')
    expect(body).toMatchObject({ count: 1, token: expect.any(String) })
    expect((await as('login-1')).body).toEqual({ ...body, token: null, secretWithheld: true })
    expect((await as('login-2')).body).toEqual(body)
  })

  test('is not returned by a request that ends after another one took over its key', async () => {
    const carriedOut = Promise.withResolvers<void>()
    const goingOn = Promise.withResolvers<void>()
    after = () => {
      carriedOut.resolve()
      return goingOn.promise
    }
    const late = as('login-1')
    await carriedOut.promise
    after = () => {}
    time += 31 * SECOND
    const { body } = await as('login-2')
    expect(body).toMatchObject({ count: 1, token: expect.any(String) })
    goingOn.resolve()
    expect((await late).body).toEqual({ ...body, token: null, secretWithheld: true })
  })
})
