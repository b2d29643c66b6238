import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { RequestFailed } from '../http/problem.ts'

/** The modules read the address of the page when they are loaded. */
let whenAdmitted: typeof import('./admitted.ts').whenAdmitted
beforeAll(async () => {
  vi.stubGlobal('document', { baseURI: 'http://service/console/' })
  whenAdmitted = (await import('./admitted.ts')).whenAdmitted
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const tooMany = { status: 429, code: 'too-many-requests', title: '', detail: '', retryAfterSeconds: 20 }

test('a request that is answered 429 is sent again after the time that the service names', async () => {
  vi.useFakeTimers()
  let sent = 0
  const result = whenAdmitted(async () => {
    if (sent++ === 0) throw new RequestFailed(tooMany)
    return 'done'
  }, new AbortController().signal)
  await vi.advanceTimersByTimeAsync(19_000)
  expect(sent).toBe(1)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await result).toBe('done')
})

test('a request that waits for that time is not sent after the run is cancelled', async () => {
  vi.useFakeTimers()
  const cancelling = new AbortController()
  let sent = 0
  const result = whenAdmitted(async () => {
    sent++
    throw new RequestFailed(tooMany)
  }, cancelling.signal).catch(error => error)
  await vi.advanceTimersByTimeAsync(1_000)
  cancelling.abort()
  expect(await result).toBe(cancelling.signal.reason)
  expect(sent).toBe(1)
})
