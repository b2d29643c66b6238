import { gantryClient } from '@gantry/client'
import { afterEach, expect, test, vi } from 'vitest'
import { adviceOn, asProblem } from './problem.ts'
import { send } from './transport.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const client = gantryClient({ baseUrl: 'http://service', fetch: send, retries: 0 })

/** The problem of a request, whose answer `fetch` would give. */
async function problemAfter(answer: () => Promise<Response>) {
  vi.stubGlobal('fetch', answer)
  return asProblem(await client.listApis().catch(error => error))
}

const json = (status: number, body: object) => async () => Response.json({ status, ...body }, { status })
const page = (status: number) => async () =>
  new Response('<h1>Proxy</h1>', { status, headers: { 'content-type': 'text/html' } })

test.for([
  ['400', json(400, { code: 'invalid-request', title: 'Invalid' }), 'Invalid', undefined],
  ['403', json(403, { code: 'scope-missing', title: 'Missing' }), 'Missing', /^Ask an administrator/],
  ['404', json(404, { code: 'not-found', title: 'None' }), 'None', /^It may have been deleted/],
  ['409', json(409, { code: 'write-conflict', title: 'Changed' }), 'Changed', /Look at the current state/],
  ['412', json(412, { code: 'precondition-failed', title: 'Stale' }), 'Stale', /^Compare your changes/],
  ['429', json(429, { code: 'too-many-requests', title: 'Many' }), 'Many', /^Wait a moment/],
  ['500', json(500, { code: 'internal-error', title: 'Error' }), 'Error', /give the request id/],
  ['503', json(503, { code: 'unavailable', title: 'Away' }), 'Away', /in some seconds/],
  [
    'a code with its own advice',
    json(409, { code: 'username-taken', title: 'Taken' }),
    'Taken',
    /another name/,
  ],
  ['502 and HTML', page(502), 'The service is unavailable', /^The service may be restarting/],
  ['200 and HTML', page(200), 'The response cannot be read', /^A proxy between this page/],
  [
    '200 and invalid JSON',
    async () => new Response('{"content": [', { headers: { 'content-type': 'application/json' } }),
    'The response cannot be read',
    /^A proxy between this page/,
  ],
  [
    'a lost connection',
    () => Promise.reject(new TypeError()),
    'The service cannot be reached',
    /^Check the net/,
  ],
] as const)('%s is a problem with a title and what to do', async ([, answer, title, advice]) => {
  const problem = await problemAfter(answer)
  expect(problem.title).toBe(title)
  if (advice) expect(adviceOn(problem)).toMatch(advice)
  else expect(adviceOn(problem)).toBeUndefined()
})

test('the request id and Retry-After come from the response; without a response the id is that of the request', async () => {
  const headers = { 'x-request-id': 'its id', 'retry-after': '20' }
  const told = await problemAfter(async () =>
    Response.json({ status: 429, code: 'a', title: 'b' }, { status: 429, headers }),
  )
  expect(told).toMatchObject({ requestId: 'its id', retryAfterSeconds: 20 })
  expect(await problemAfter(async () => new Response('', { status: 502, headers }))).toMatchObject({
    requestId: 'its id',
  })
  const lost = await problemAfter(() => Promise.reject(new TypeError()))
  expect(lost.requestId).toMatch(/^\S{10,}$/)
})

test('a request without an answer is given up after 30 s', async () => {
  vi.useFakeTimers()
  vi.stubGlobal(
    'fetch',
    (_url: string, { signal }: RequestInit) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
  )
  const sent = client.listApis().catch(error => asProblem(error).title)
  await vi.advanceTimersByTimeAsync(29_000)
  expect(await Promise.race([sent, 'waits'])).toBe('waits')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(await sent).toBe('The service does not answer')
})

test('any other error is shown as a defect of the console', () =>
  expect(asProblem(new Error('oops'))).toMatchObject({ code: 'console-error', detail: 'oops' }))
