import { expect, test } from 'vitest'
import { faultOf } from './faults.ts'

const attempt = (error: string | null, responseStatus: number | null, fault: string) =>
  ({ error, responseStatus, fault }) as Parameters<typeof faultOf>[0]

test.for([
  ['http-status', 500, /status 500/, /log of the receiver/],
  ['http-status', 410, /status 410/, /no further attempt/],
  ['http-status', 403, /status 403/, /current secret/],
  ['http-status', 404, /status 404/, /path in the URL/],
  ['http-status', 429, /status 429/, /more requests/],
  ['connect-failed', null, /No connection/, /receiver runs/],
  ['something-new', null, /failed: something-new/, undefined],
] as const)('%s %j says what went wrong and what to do', ([error, status, said, advice]) => {
  const found = faultOf(attempt(error, status, 'RECEIVER'))
  expect(found?.said).toMatch(said)
  expect(found?.whose).toBe('This is a fault of the receiver.')
  if (advice) expect(found?.advice).toMatch(advice)
})

test('a success has no fault, and one of the service does not count against the webhook', () => {
  expect(faultOf(attempt(null, 200, 'NONE'))).toBeUndefined()
  expect(faultOf(attempt('internal-error', null, 'SERVICE'))?.whose).toMatch(/does not count/)
})
