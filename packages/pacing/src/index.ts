export { Backoff } from './backoff.ts'
export { retryAfterMs } from './retry-after.ts'
export { sleep } from './sleep.ts'
