import { expect, test } from 'vitest'
import { subjectMatches } from './bus.ts'

test.each([
  ['events.catalog.API_CREATED', 'events.catalog.API_CREATED', true],
  ['events.catalog.API_CREATED', 'events.catalog.API_DELETED', false],
  ['events.*.API_CREATED', 'events.catalog.API_CREATED', true],
  ['events.*', 'events.catalog.API_CREATED', false],
  ['events.catalog.*', 'events.catalog', false],
  ['events.>', 'events.catalog.API_CREATED', true],
  ['events.>', 'events', false],
  ['>', 'events', true],
  ['events.catalog', 'events.catalog.API_CREATED', false],
])('the pattern %s and the subject %s: %s', (pattern, subject, matches) => {
  expect(subjectMatches(pattern, subject)).toBe(matches)
})
