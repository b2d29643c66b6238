import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { aggregate, type EventStore } from '@gantry/event-sourcing'
import { storyMetadata, withoutProjector } from '@gantry/event-sourcing/testing'
import type { ReadModels } from '@gantry/stores'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { apiInput } from '../testing/api-input.ts'
import { type ApiCommand, apiDecider } from './api.decide.ts'
import { projectApi } from './api.projection.ts'
import type { ApiEvent, ApiState } from './api.ts'
import { startDeploymentTimeouts } from './deployment-timeouts.ts'

const STARTED = storyMetadata.now
const AFTER_AN_HOUR = new Date(Date.parse(STARTED) + 3_600_001).toISOString()
const uuid = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`

let folder: string
let eventStore: EventStore
let readModels: ReadModels
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-timeouts-'))
  eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
  readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
})
afterEach(async () => {
  await Promise.all([eventStore.close(), readModels.close()])
  await rm(folder, { recursive: true })
})

const apisOver = (store: EventStore) =>
  aggregate<ApiState, ApiCommand, ApiEvent>({
    eventStore: store,
    category: 'api',
    decider: apiDecider,
    view: { projector: withoutProjector(readModels), project: projectApi },
  })

let commands = 0
const metadata = () => ({ ...storyMetadata, commandId: uuid(1_000_000 + commands++) })
const startJob = async (id: string) => {
  const api = apisOver(eventStore)
  const input = { ...apiInput, name: id }
  await api.execute(id, { type: 'CreateApi', metadata: metadata(), id, input })
  const job = { type: 'StartDeployment', metadata: metadata(), job: uuid(9), kind: 'DEPLOY' } as const
  await api.execute(id, { ...job, environment: uuid(8) })
}

const startTimeouts = (store: EventStore) => {
  const log = { info: () => {}, warn: () => {}, error: () => {} }
  const timeouts = startDeploymentTimeouts({
    api: apisOver(store),
    readModels,
    timeoutMs: 3_600_000,
    holder: 'one',
    now: () => new Date(AFTER_AN_HOUR),
    newId: () => uuid(1_000_000 + commands++),
    log,
  })
  onTestFinished(() => timeouts.stop())
}

const eventTypes = async (id: string) => (await eventStore.readStream(`api-${id}`)).map(({ type }) => type)
const ended = (ids: string[]) =>
  vi.waitFor(async () => {
    for (const id of ids) expect((await eventTypes(id)).at(-1)).toBe('DeploymentFailed')
  })

test('a page of jobs that cannot be ended does not keep later jobs with the same start time from ending', async () => {
  const ids = Array.from({ length: 101 }, (_, n) => uuid(n))
  for (const id of ids) await startJob(id)
  const last = uuid(100)
  const append: EventStore['append'] = async (stream, events, expected) => {
    if (stream !== `api-${last}`) throw new Error('the stream cannot be written')
    return eventStore.append(stream, events, expected)
  }
  startTimeouts({ ...eventStore, append })
  await ended([last])
  expect(await eventTypes(uuid(0))).toEqual(['ApiCreated', 'DeploymentStarted'])
})
