import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PublicEvent, subjects } from '@gantry/contracts'
import { sqliteEventStore } from '@gantry/embedded'
import { aggregate, type EventStore, type Log } from '@gantry/event-sourcing'
import { storyMetadata } from '@gantry/event-sourcing/testing'
import type { Json, Message } from '@gantry/messaging'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ApiCommand, apiDecider } from './api/api.decide.ts'
import type { ApiEvent, ApiState } from './api/api.ts'
import { reactionsOf } from './reactions.ts'
import { apiInput } from './testing/api-input.ts'

const API = '11111111-1111-4111-8111-111111111111'
const log: Log = { info() {}, warn() {}, error() {} }

let folder: string
let eventStore: EventStore
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-reactions-'))
  eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
})
afterEach(async () => {
  await eventStore.close()
  await rm(folder, { recursive: true })
})

/** A replica whose clock stands at that second. */
function replica(second: number) {
  const api = aggregate<ApiState, ApiCommand, ApiEvent>({ eventStore, category: 'api', decider: apiDecider })
  let made = 0
  const newId = () => `00000000-0000-4000-8000-${String(second * 1_000 + made++).padStart(12, '0')}`
  const react = reactionsOf({
    api,
    newId,
    now: () => new Date(Date.UTC(2026, 10, 21, 10, 0, second)),
    log,
  })
  return { api, react }
}

const imageUpdated: PublicEvent = {
  id: '22222222-2222-4222-8222-222222222222',
  type: 'API_IMAGE_UPDATED',
  source: 'media',
  subject: API,
  revision: 0,
  time: '2026-11-21T10:00:00.000Z',
  data: {},
  actor: { id: null, name: 'grace' },
  requestId: 'story',
}
const message: Message = {
  id: imageUpdated.id,
  subject: subjects.events('media', 'API_IMAGE_UPDATED'),
  data: imageUpdated as unknown as Json,
}

test('a message that two replicas handle at different times leads to the same state in both', async () => {
  const [one, other] = [replica(1), replica(2)]
  await one.api.execute(API, { type: 'CreateApi', id: API, input: apiInput, metadata: storyMetadata })
  await other.api.load(API)
  await one.react(message)
  await other.react(message)
  expect(await eventStore.readStream(`api-${API}`)).toHaveLength(2)
  const { state } = await replica(3).api.load(API)
  expect(state).toMatchObject({ record: { hasImage: true, updatedAt: '2026-11-21T10:00:01.000Z' } })
  expect((await other.api.load(API)).state).toEqual(state)
})
