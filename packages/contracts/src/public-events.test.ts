import { expect, test } from 'vitest'
import { PUBLIC_EVENTS } from './public-events.ts'

test.each(Object.entries(PUBLIC_EVENTS))(
  'the example of %s conforms to its schema',
  (_, { data, example }) => {
    expect(data.parse(example)).toEqual(example)
  },
)
