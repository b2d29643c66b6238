import { EventStoreUnavailable } from '@gantry/event-sourcing'
import { expect, it } from 'vitest'

class DeadlineExceededError extends Error {}

it.each([
  [new Error('connection lost'), 'connection lost'],
  [new DeadlineExceededError(), 'DeadlineExceededError'],
  [new AggregateError([new Error('refused')]), 'AggregateError'],
  ['it is closed', 'it is closed'],
  ['', 'no reason given'],
])('an unavailable event store always has a reason: %o', (cause, reason) => {
  expect(new EventStoreUnavailable(cause)).toMatchObject({
    message: `event store unavailable: ${reason}`,
    cause,
  })
})
