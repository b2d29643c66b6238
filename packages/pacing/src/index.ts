export { Backoff } from './backoff.ts'
export { retryAfterMs } from './retry-after.ts'
export { atMostEvery, inTime, sleep } from './sleep.ts'
