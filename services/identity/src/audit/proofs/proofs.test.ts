import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  type AuditDocument,
  type AuditKey,
  type AuditKeySet,
  auditCollections,
  auditLog,
  canonicalJson,
  chainIn,
  DAY_ROOT_STREAM,
  type DayRoot,
  refutes,
  rootIn,
  verifyExport,
} from '@gantry/audit'
import { type AuditDayRoot, requests } from '@gantry/contracts'
import { sqliteEventStore, sqliteReadModels, sqliteUserKeys } from '@gantry/embedded'
import { type EventStore, NO_STREAM, projectorId } from '@gantry/event-sourcing'
import { administrator, type HostDependencies, hostService } from '@gantry/service-runtime/testing'
import type { ReadModels, Stored, UserKeys } from '@gantry/stores'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { cheapIdentity, PASSWORD } from '../../testing/identity-host.ts'

const HOUR = 3_600_000
const START = Date.parse('2026-11-20T22:00:00.000Z')

/** One log and read models for several replicas. The test sets the clock. */
let folder: string
let clock: number
let eventStore: EventStore
let readModels: ReadModels
let userKeys: UserKeys
const closing: (() => Promise<void>)[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-proofs-'))
  clock = START
  openStores()
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  await closeStores()
  await rm(folder, { recursive: true })
})

function openStores() {
  eventStore = sqliteEventStore({ path: join(folder, 'events.db'), now: () => new Date(clock) })
  readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
  userKeys = sqliteUserKeys({ path: join(folder, 'user-keys.db') })
}
const closeStores = () => Promise.all([eventStore.close(), readModels.close(), userKeys.close()])

/** What an operator can do who has the stores and not ENCRYPTION_KEY. */
async function attack(events: string, dropReadModels = true) {
  await closeStores()
  const log = new DatabaseSync(join(folder, 'events.db'))
  log.exec(events)
  log.close()
  if (dropReadModels) await rm(join(folder, 'read-models.db'))
  openStores()
}

/** Starts a replica. @returns a function that stops it */
async function start() {
  const shared = { eventStore, readModels, userKeys }
  const lines: string[] = []
  const host = await hostService(
    (dependencies: HostDependencies) => {
      void dependencies.eventStore.close()
      void dependencies.readModels.close()
      void dependencies.userKeys.close()
      const log = { info() {}, warn() {}, error: (_: object, message: string) => void lines.push(message) }
      const process = { ...dependencies.process, log }
      return cheapIdentity({ ...dependencies, ...shared, process })
    },
    { now: () => new Date(clock) },
  )
  const stop = () => host.close()
  closing.push(stop)
  const get = async (path: string) => (await host.app.inject({ method: 'GET', url: path })).json()
  const text = async (url: string) => Buffer.from((await host.app.inject({ method: 'GET', url })).rawPayload)
  const proofs = async (query = '') => (await get(`/auditLog/proofs?${query}`)) as Proofs
  return {
    host,
    lines,
    get,
    text,
    proofs,
    async stop() {
      closing.splice(closing.indexOf(stop), 1)
      await stop()
    },
  }
}

interface Proofs {
  content: AuditDayRoot[]
  head: { number: number; chainHash: string } | null
  problem: string | null
}

let happened = 0
/** Appends a change at the time of the store's clock. */
async function change() {
  const metadata = {
    actor: { id: administrator.userId, name: administrator.userId },
    requestId: 'r',
    at: new Date(clock).toISOString(),
    change: {
      action: 'API_CREATED',
      resourceType: 'API',
      resourceId: 'a',
      before: null,
      after: null,
    } as never,
  }
  const id = crypto.randomUUID()
  await eventStore.append(`api-${happened++}`, [{ id, type: 'ApiCreated', data: {}, metadata }], NO_STREAM)
}
const chainValid = ({ dependencies }: Awaited<ReturnType<typeof start>>['host']) =>
  dependencies.process.metrics.getSingleMetricAsString('gantry_audit_chain_valid')
const signedDays = async () => (await eventStore.readStream(DAY_ROOT_STREAM)).map(event => rootIn(event).root)
const days = (roots: readonly Pick<DayRoot, 'day' | 'count'>[]) =>
  roots.map(({ day, count }) => `${day} ${count}`)

test('each day is signed once after its end, whatever the number of replicas, and days without records too', async () => {
  const one = await start()
  const two = await start()
  await change()
  await vi.waitFor(async () => expect((await one.proofs()).head?.number).toBe(3))
  expect(await signedDays()).toEqual([])

  clock = Date.parse('2026-11-21T00:00:04.000Z')
  await change()
  clock += 2_000
  await vi.waitFor(async () => expect(days(await signedDays())).toEqual(['2026-11-20 3']))

  clock = Date.parse('2026-11-24T12:00:00.000Z')
  const all = ['2026-11-20 3', '2026-11-21 1', '2026-11-22 0', '2026-11-23 0']
  await vi.waitFor(async () => expect(days(await signedDays())).toEqual(all))
  const { content } = await two.proofs('sort=day,asc')
  expect(days(content)).toEqual(all)
  expect(content.map(({ valid }) => valid)).toEqual([true, true, true, true])
  expect(days((await two.proofs('size=1')).content)).toEqual(['2026-11-23 0'])
  const { keys } = (await one.get('/.well-known/audit-keys.json')) as AuditKeySet
  for (const [index, { valid, signature, ...root }] of content.entries()) {
    expect(refutes({ root }, signature, keys)).toBeUndefined()
    if (index > 0) expect(canonicalJson(root.before)).toBe(canonicalJson(content[index - 1]?.after ?? {}))
  }
  expect(content[0]).toMatchObject({ first: { number: 1 }, last: { number: 3 } })
  expect(content[2]).toMatchObject({ first: null, last: null })
})

describe('an operator with the stores and without ENCRYPTION_KEY', () => {
  /** A user, and the signed root of the day on which the user was created. */
  async function aSignedDay() {
    const { host, stop, get, text } = await start()
    const payload = { username: 'ada', displayName: 'Ada', role: 'USER', password: PASSWORD }
    const created = await host.app.inject({ method: 'POST', url: '/users', payload })
    expect(created.statusCode).toBe(201)
    clock += 4 * HOUR
    await vi.waitFor(async () => expect(await signedDays()).toHaveLength(1))
    const { keys } = (await get('/.well-known/audit-keys.json')) as AuditKeySet
    expect((await verifyExport([await text('/auditLog/export')], keys)).broken).toBeUndefined()
    expect(await chainValid(host)).toMatch(/ 1$/m)
    await stop()
    return { id: created.json().id as string, keys }
  }

  /** The service reports a problem, and signs neither its head nor an export. */
  async function expectReported(problem: RegExp, keys?: AuditKey[]) {
    clock += 24 * HOUR
    const replica = await start()
    await vi.waitFor(() => expect(replica.lines.join()).toMatch(problem))
    expect(await chainValid(replica.host)).toMatch(/ 0$/m)
    await vi.waitFor(async () => expect((await replica.proofs()).problem).toMatch(problem))
    expect((await replica.proofs()).head).toBeNull()
    expect((await verifyExport([await replica.text('/auditLog/export')], keys)).broken).toBeDefined()
    return replica
  }

  test.each([
    ['role', '$.role', "'GLOBAL_ADMIN'"],
    ['password', '$.passwordHash', "'$argon2id$v=19$m=8,t=1,p=1$AAAA$AAAA'"],
    ['event', '$', "'{}'"],
  ])('cannot change the %s of a user of a signed day', async (_, path, value) => {
    const { id, keys } = await aSignedDay()
    await attack(`UPDATE events SET data = json_set(data, '${path}', ${value}) WHERE stream = 'user-${id}'`)
    const { proofs } = await expectReported(/differs from the signed root of 2026-11-20/, keys)
    expect((await proofs()).content).toMatchObject([{ valid: false }])
  })

  test('cannot have a forged past signed after the roots are deleted', async () => {
    const { id, keys } = await aSignedDay()
    await attack(`UPDATE events SET metadata = json_remove(metadata, '$.change') WHERE stream = 'user-${id}';
        DELETE FROM events WHERE stream LIKE 'auditroot-%'`)
    await expectReported(/the root of an earlier day is missing/, keys)
    expect(await signedDays()).toEqual([])
  })

  test('cannot have a forged past signed after a root of their own', async () => {
    const { id, keys } = await aSignedDay()
    await attack(
      `UPDATE events SET data = json_set(data, '$.role', 'GLOBAL_ADMIN') WHERE stream = 'user-${id}'`,
    )
    const { stop, proofs } = await start()
    await vi.waitFor(async () => expect((await proofs()).content).toHaveLength(1))
    const [{ after, log }] = (await proofs()).content as [AuditDayRoot]
    const chain = chainIn(readModels)
    const [point, hash] = [await chain.pointAt(after.number), await chain.hashAt(log.events)]
    await stop()
    await attack(`UPDATE events SET data = json_set(data, '$.root.after.chainHash', '${point?.chainHash}',
      '$.root.log.hash', '${hash}') WHERE stream LIKE 'auditroot-%'`)
    await expectReported(/signature of the root of 2026-11-20/, keys)
    expect(await signedDays()).toHaveLength(1)
  })

  test.each([
    [
      'change',
      'kept',
      "UPDATE events SET data = json_set(data, '$.role', 'GLOBAL_ADMIN') WHERE",
      /differs from the head/,
    ],
    [
      'change',
      'made again',
      "UPDATE events SET data = json_set(data, '$.role', 'GLOBAL_ADMIN') WHERE",
      /differs from the head/,
    ],
    ['cut off', 'kept', 'DELETE FROM events WHERE', /its end was cut off/],
    ['cut off', 'made again', 'DELETE FROM events WHERE', /its end was cut off/],
  ])('cannot %s what is not signed yet, with read models that are %s', async (_, models, change, problem) => {
    const { id } = await aSignedDay()
    const { host, stop } = await start()
    const payload = { displayName: 'Countess', username: 'ada', role: 'USER' }
    expect((await host.app.inject({ method: 'PUT', url: `/users/${id}`, payload })).statusCode).toBe(200)
    await vi.waitFor(async () => expect((await chainIn(readModels).end()).record.number).toBe(5))
    await stop()
    if (models === 'made again') {
      await readModels.checkpoints.clear(
        projectorId({ name: 'identity.audit', collections: auditCollections }),
      )
      for (const collection of auditCollections) await readModels.drop(collection)
    }
    await attack(`${change} stream = 'user-${id}' AND type = 'UserUpdated'`, false)
    await expectReported(problem)
  })

  test.each([
    ['changed', 'record 2 was changed'],
    ['deleted', 'record 2 is missing'],
  ])('cannot have a %s record of the read model exported', async (what, problem) => {
    await aSignedDay()
    const records = readModels.collection(auditLog)
    const [second] = await records.list({ where: { number: 2 }, limit: 1 })
    const { doc } = second as Stored<AuditDocument>
    if (what === 'deleted') await records.remove(doc.id, 1)
    else await records.put({ ...doc, record: doc.record.replace('CREATED', 'DELETED') }, 1)
    const { host, lines, text } = await start()
    await vi.waitFor(() => expect(lines.join()).toContain(problem))
    expect(await chainValid(host)).toMatch(/ 0$/m)
    const { broken } = await verifyExport([await text('/auditLog/export')])
    expect(broken?.reason).toContain(`the service ended the export: ${problem}`)
  })
})

test('rotated audit keys stay published with the time in which they sign', async () => {
  const { host, get } = await start()
  await vi.waitFor(async () => expect((await get('/.well-known/audit-keys.json')).keys).toHaveLength(1))
  const rotation = { id: crypto.randomUUID(), by: 'operator', compromised: false, ring: 'audit' } as const
  const { kid, ring } = await host.dependencies.process.peers.ask(requests.rotateKeys, rotation)
  expect(ring).toBe('audit')
  const { keys } = (await get('/.well-known/audit-keys.json')) as AuditKeySet
  expect(keys).toMatchObject([
    { validUntil: new Date(clock + 600_000).toISOString() },
    { kid, validFrom: new Date(clock + 600_000).toISOString(), validUntil: null },
  ])
  expect((await get('/.well-known/jwks.json')).keys).toHaveLength(1)
})
