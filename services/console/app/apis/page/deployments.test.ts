import { expect, test } from 'vitest'
import { starterOf } from './deployments.ts'

const entry = (
  operation: string,
  timestamp: string,
  environment: string | null,
  id: string | null = null,
) => ({
  ...{ operation, timestamp, environment },
  who: { id, username: id, displayName: id },
})
const newestFirst = [
  entry('API_UNDEPLOYED', '9', 'live'),
  entry('API_DEPLOYED', '8', 'test'),
  entry('API_DEPLOYMENT_STARTED', '7', 'test', 'zoe'),
  entry('API_UNDEPLOYMENT_STARTED', '6', 'live', 'ann'),
  entry('API_UPDATED', '5', null, 'zoe'),
  entry('API_DEPLOYED', '4', 'live'),
  entry('API_DEPLOYMENT_STARTED', '1', 'live', 'joe'),
]

test.for([
  ['6', 'ann'],
  ['7', 'zoe'],
  ['8', 'zoe'],
  ['9', 'ann'],
  ['4', 'joe'],
  ['5', undefined],
  ['0', undefined],
] as const)('the job of time %s was started by %s', ([at, starter]) => {
  expect(starterOf(at, newestFirst)?.id).toBe(starter)
})

test('a deployment whose start was not read has no starter', () => {
  expect(starterOf('4', newestFirst.slice(0, 6))).toBeUndefined()
})
