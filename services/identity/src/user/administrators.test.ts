import { storyMetadata as metadata, story } from '@gantry/event-sourcing/testing'
import { describe, test } from 'vitest'
import { type AdministratorsEvent, administratorsDecider } from './administrators.ts'

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
  test('is announced while another stays', () => {
    given()
      .when(announce('ada', 3, { id: 'grace', revision: 0 }))
      .then(announced('ada', 3))
  })
  test('is refused when nobody stays', () => {
    given().when(announce('ada', 3)).thenRefused('last-administrator')
  })
  test('is refused when the only other one is about to go', () => {
    given(announced('grace', 0))
      .when(announce('ada', 3, { id: 'grace', revision: 0 }))
      .thenRefused('last-administrator')
  })
  test('is refused when the other one was seen before he was announced to go', () => {
    given(announced('grace', 5))
      .when(announce('ada', 3, { id: 'grace', revision: 4 }))
      .thenRefused('last-administrator')
  })
  test('counts again on one whose stream went on without the removal', () => {
    given(announced('grace', 0))
      .when(announce('ada', 3, { id: 'grace', revision: 1 }))
      .then(announced('ada', 3))
  })
  test('needs one who stays, however many go', () => {
    given(announced('grace', 0), announced('joan', 2))
      .when(announce('ada', 3, { id: 'grace', revision: 0 }, { id: 'joan', revision: 2 }))
      .thenRefused('last-administrator')
    given(announced('grace', 0))
      .when(announce('ada', 3, { id: 'grace', revision: 0 }, { id: 'joan', revision: 2 }))
      .then(announced('ada', 3))
  })
  test('is announced once', () => {
    given(announced('ada', 3)).when(announce('ada', 3)).then()
  })
  test('is announced anew, by the same rule, when the user moved meanwhile', () => {
    given(announced('ada', 3)).when(announce('ada', 4)).thenRefused('last-administrator')
    given(announced('ada', 3))
      .when(announce('ada', 4, { id: 'grace', revision: 0 }))
      .then(announced('ada', 4))
  })
})
