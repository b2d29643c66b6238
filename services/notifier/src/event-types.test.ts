import { EVENT_TYPES, type EventType, EventTypeRecord } from '@gantry/contracts'
import { expect, test } from 'vitest'
import { eventTypes } from './event-types.ts'

test('every event type has an example that conforms to its schema', () => {
  expect(eventTypes.map(({ name }) => name)).toEqual(Object.keys(EVENT_TYPES))
  for (const entry of eventTypes) {
    EventTypeRecord.parse(entry)
    EVENT_TYPES[entry.name as EventType].data.parse(entry.example.data)
    expect(Object.keys(entry.example)).toEqual(['id', 'type', 'timestamp', 'data'])
  }
})

test('every schema fixes the event type and allows additional fields', () => {
  for (const { name, schema } of eventTypes) {
    expect(schema).toMatchObject({ type: 'object', properties: { type: { const: name } } })
    expect(JSON.stringify(schema)).not.toMatch(/"override"|"additionalProperties":false/)
  }
})
