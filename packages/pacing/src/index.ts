export { Backoff } from './backoff.ts'
export { retryAfterMs } from './retry-after.ts'
export { inTime, sleep } from './sleep.ts'
