import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { aggregate } from '@gantry/event-sourcing'
import {
  inMemoryLog,
  storyMetadata as metadata,
  story,
  testFrozenStreams,
} from '@gantry/event-sourcing/testing'
import { describe, expect, test } from 'vitest'
import { created } from '../testing/user-events.ts'
import { type AdministratorsEvent, administrators, administratorsDecider } from './administrators.ts'
import { evolveUser, initialUser } from './user.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'administrators',
  decider: administratorsDecider,
})

const announced = (userId: string, userRevision: number): AdministratorsEvent => ({
  type: 'RemovalAnnounced',
  data: { userId, userRevision, announcedAt: metadata.now },
})
const announce = (userId: string, userRevision: number, ...others: { id: string; revision: number }[]) => ({
  type: 'AnnounceRemoval' as const,
  metadata,
  userId,
  userRevision,
  others,
})
const { given } = story(administratorsDecider)

describe('the removal of a global administrator', () => {
  test('is announced when another remains', () => {
    given()
      .when(announce('ada', 3, { id: 'grace', revision: 0 }))
      .then(announced('ada', 3))
  })
  test('is refused when no other exists', () => {
    given().when(announce('ada', 3)).thenRefused('last-administrator')
  })
  test('is refused when the removal of the only other one is announced', () => {
    given(announced('grace', 0))
      .when(announce('ada', 3, { id: 'grace', revision: 0 }))
      .thenRefused('last-administrator')
  })
  test('is refused when the other one was read at a revision before the one of its announced removal', () => {
    given(announced('grace', 5))
      .when(announce('ada', 3, { id: 'grace', revision: 4 }))
      .thenRefused('last-administrator')
  })
  test('is announced when the announced removal of the other one did not happen and its stream has a later event', () => {
    given(announced('grace', 0))
      .when(announce('ada', 3, { id: 'grace', revision: 1 }))
      .then(announced('ada', 3))
  })
  test('needs one without an announced removal, however many are announced', () => {
    given(announced('grace', 0), announced('joan', 2))
      .when(announce('ada', 3, { id: 'grace', revision: 0 }, { id: 'joan', revision: 2 }))
      .thenRefused('last-administrator')
    given(announced('grace', 0))
      .when(announce('ada', 3, { id: 'grace', revision: 0 }, { id: 'joan', revision: 2 }))
      .then(announced('ada', 3))
  })
  test('is announced once when repeated at the same revision', () => {
    given(announced('ada', 3)).when(announce('ada', 3)).then()
  })
  test('is announced again, by the same rule, when the stream of the user has a new event', () => {
    given(announced('ada', 3)).when(announce('ada', 4)).thenRefused('last-administrator')
    given(announced('ada', 3))
      .when(announce('ada', 4, { id: 'grace', revision: 0 }))
      .then(announced('ada', 4))
  })
})

test('a command that is decided again at another revision announces the removal again', async () => {
  const eventStore = inMemoryLog().connect()
  const state = evolveUser(initialUser, created({ id: 'grace', role: 'GLOBAL_ADMIN' }), 0)
  const grace = async () => ({ state, revision: 0 })
  const { announceRemoval } = administrators({
    removals: aggregate({ eventStore, category: 'administrators', decider: administratorsDecider }),
    candidates: async () => ['ada', 'grace'],
    load: grace,
    fence: grace,
    newId: randomUUID,
    log: { info() {}, warn() {}, error() {} },
  })
  const repeated = { ...metadata, repeated: true }
  await announceRemoval('ada', 3, repeated)
  await announceRemoval('ada', 4, repeated)
  const announced = await eventStore.readStream('administrators-all')
  expect(announced.map(({ data }) => data.userRevision)).toEqual([3, 4])
})
