import { expect, test } from 'vitest'
import { starterOf } from './deployments.ts'

const entry = (operation: string, timestamp: string, id: string | null = null) => ({
  operation,
  timestamp,
  who: { id, username: id, displayName: id },
})
const newestFirst = [
  entry('API_DEPLOYED', '9'),
  entry('API_DEPLOYED', '8'),
  entry('API_DEPLOYMENT_STARTED', '7', 'zoe'),
  entry('API_DEPLOYMENT_STARTED', '6', 'ann'),
  entry('API_UPDATED', '5', 'zoe'),
  entry('API_DEPLOYED', '4'),
  entry('API_DEPLOYED', '3'),
  entry('API_DEPLOYMENT_STARTED', '2', 'ann'),
  entry('API_DEPLOYMENT_STARTED', '1', 'ann'),
]

test.for([
  ['6', 'ann'],
  ['7', 'zoe'],
  ['3', 'ann'],
  ['4', 'ann'],
  // Both ran then.
  ['8', undefined],
  ['0', undefined],
] as const)('the job of time %s was started by %s', ([at, starter]) => {
  expect(starterOf(at, newestFirst)?.id).toBe(starter)
})

test('a deployment whose start was not read has no starter', () => {
  expect(starterOf('3', newestFirst.slice(0, 7))).toBeUndefined()
})
