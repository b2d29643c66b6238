import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AuditKeySet,
  canonicalJson,
  DAY_ROOT_STREAM,
  type DayRoot,
  refutes,
  rootIn,
} from '@gantry/audit'
import type { AuditDayRoot } from '@gantry/contracts'
import { sqliteBus, sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { type EventStore, NO_STREAM } from '@gantry/event-sourcing'
import type { ReadModels } from '@gantry/read-models'
import { administrator, type HostDependencies, hostService } from '@gantry/service-kit/testing'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { cheapIdentity } from '../../testing/identity-host.ts'

const HOUR = 3_600_000
const START = Date.parse('2026-11-20T22:00:00.000Z')

/** One log and read models for several replicas. The test sets the clock. */
let folder: string
let clock: number
let eventStore: EventStore
let readModels: ReadModels
const closing: (() => Promise<void>)[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-proofs-'))
  clock = START
  eventStore = sqliteEventStore({ path: join(folder, 'events.db'), now: () => new Date(clock) })
  readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
})
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
  await Promise.all([eventStore.close(), readModels.close()])
  await rm(folder, { recursive: true })
})

/** Starts a replica. @returns a function that stops it */
async function start() {
  const shared = { eventStore, readModels }
  const lines: string[] = []
  const host = await hostService(
    (dependencies: HostDependencies) => {
      void dependencies.eventStore.close()
      void dependencies.readModels.close()
      const log = { info() {}, warn() {}, error: (_: object, message: string) => void lines.push(message) }
      const process = { ...dependencies.process, log }
      return cheapIdentity({ ...dependencies, ...shared, process })
    },
    { now: () => new Date(clock) },
  )
  const stop = () => host.close()
  closing.push(stop)
  const get = async (path: string) => (await host.app.inject({ method: 'GET', url: path })).json()
  const proofs = async (query = '') => (await get(`/auditLog/proofs?${query}`)) as Proofs
  return {
    host,
    lines,
    get,
    proofs,
    async stop() {
      closing.splice(closing.indexOf(stop), 1)
      await stop()
    },
  }
}

interface Proofs {
  content: AuditDayRoot[]
  head: { number: number; chainHash: string }
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
  await vi.waitFor(async () => expect((await one.proofs()).head.number).toBe(3))
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

test('an audit log from which a record was removed is not signed, and the roots before are shown as invalid', async () => {
  const { host: signing, stop } = await start()
  await change()
  clock += 4 * HOUR
  await vi.waitFor(async () => expect(await signedDays()).toHaveLength(1))
  expect(await chainValid(signing)).toMatch(/ 1$/m)
  await stop()
  await eventStore.remove(`api-${happened - 1}`, 0)
  await readModels.close()
  await rm(join(folder, 'read-models.db'))
  readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
  clock += 24 * HOUR
  const { host, proofs, lines } = await start()
  await vi.waitFor(() => expect(lines.join()).toContain('no day is signed until it is restored'))
  expect(await chainValid(host)).toMatch(/ 0$/m)
  await vi.waitFor(async () => expect((await proofs()).content).toMatchObject([{ valid: false }]))
  expect(await signedDays()).toHaveLength(1)
})

test('rotated audit keys stay published with the time in which they sign', async () => {
  const { host, get } = await start()
  await vi.waitFor(async () => expect((await get('/.well-known/audit-keys.json')).keys).toHaveLength(1))
  const bus = sqliteBus({ path: join(host.folder, 'messages.db') })
  onTestFinished(() => bus.close())
  const request = { id: crypto.randomUUID(), by: 'operator', compromised: false, ring: 'audit' }
  const { kid, ring } = (await bus.request('identity.rotate-keys', request, { timeoutMs: 5_000 })) as Record<
    string,
    string
  >
  expect(ring).toBe('audit')
  const { keys } = (await get('/.well-known/audit-keys.json')) as AuditKeySet
  expect(keys).toMatchObject([
    { validUntil: new Date(clock + 600_000).toISOString() },
    { kid, validFrom: new Date(clock + 600_000).toISOString(), validUntil: null },
  ])
  expect((await get('/.well-known/jwks.json')).keys).toHaveLength(1)
})
