import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { createApi } from '../src/apis.ts'
import { service } from '../src/gantry.ts'
import { isNoFault, isOf, isReady, sample, sendAll } from '../src/hostile.ts'
import { exchange, PREFIX, type RawAnswer, requestOf } from '../src/raw.ts'
import { scopedTo } from '../src/users.ts'

let reader: string | undefined
let api: string
beforeAll(async () => {
  reader = (await scopedTo('API_READ')).authorization
  api = (await createApi()).id
})

const oneOf = (words: string) => fc.constantFrom(...words.trim().split(/\s+/))
const METHODS = 'GET HEAD POST PUT DELETE OPTIONS PATCH TRACE CONNECT BREW get'
const word = oneOf(`
  apis apis API auditLog events users webhooks requests accessTokens versions image
  metrics health live ready docs openapi.json .well-known jwks.json internal login`)
const SPACES = ['', ' ', '\t', '\u0000', '\u0001', '\u007f', '\u0085', '\u00e9', '\u00c3\u00a9', '\u00ff']
const LONG = ['a'.repeat(1_001), 'b'.repeat(9_000), '%41'.repeat(5_000), 'c'.repeat(70_000)]
const oddity = fc.oneof(
  {
    weight: 6,
    arbitrary: oneOf(String.raw`
      . .. ... %2e %2E%2e .%2e %252e%252e ..; %c0%ae%c0%ae ~
      \ \..\ %5c %5C..%5C %2f %2F..%2F ..%2f ..%5c %252f %u002e
      %00 %0a %0d%0a % %zz %E0%A4%A * : @ ; ;a=b , " < { | ^ ${'`'} __proto__ constructor toString`),
  },
  { weight: 2, arbitrary: fc.constantFrom(...SPACES, ...LONG) },
  {
    weight: 2,
    arbitrary: fc.string({
      unit: fc.integer({ min: 1, max: 255 }).map(code => String.fromCharCode(code)),
      maxLength: 5,
    }),
  },
)
const segment = fc.oneof(
  { weight: 5, arbitrary: word },
  { weight: 4, arbitrary: oddity },
  { weight: 1, arbitrary: fc.tuple(word, oddity).map(([text, odd]) => text + odd) },
  { weight: 1, arbitrary: fc.constant('API-ID') },
  { weight: 1, arbitrary: fc.uuid() },
)
const path = fc
  .array(fc.tuple(fc.constantFrom('/', '/', '/', '/', '//', '\\', '/./', '/../', '%2f'), segment), {
    maxLength: 6,
  })
  .map(parts => parts.flat().join(''))
/** Path traversal from a parameter to another path, as some programs interpret it. */
const climb = fc
  .record({
    start: fc.constantFrom('/apis/x', '/apis/API-ID', '/apis/API-ID/versions/x', '/health/x', '/x'),
    slash: fc.constantFrom('\\', '\\', '/', '%5c', '%2F'),
    dots: fc.constantFrom('..', '..', '%2e%2e', '..;'),
    further: fc.constantFrom(0, 0, 1, -1),
    to: fc.constantFrom('metrics', 'health/ready', 'apis', 'users', 'openapi.json'),
  })
  .map(({ start, slash, dots, further, to }) => {
    const times = Math.max(0, start.split('/').length - 1 + further)
    return [start, ...Array(times).fill(dots), ...to.split('/')].join(slash)
  })
const whole = oneOf('/apis /apis/API-ID /apis/API-ID/versions /metrics /health/live /users')
const search = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.tuple(oneOf('? # ?? ?size= ?page=1&'), oddity).map(parts => parts.join('')) },
)
const form = fc.oneof(
  { weight: 6, arbitrary: fc.constant(PREFIX) },
  { weight: 1, arbitrary: fc.constantFrom(`http://h${PREFIX}`, `HTTPS://h:1${PREFIX}`, '', ' ') },
  {
    weight: 1,
    arbitrary: oneOf(String.raw`
      http:// http:/ http: //h ftp://h http://a@b:c http://[::1 http://h\ http://h? http://h# javascript: h:80 \ * /`),
  },
)
const target = fc
  .record({
    form,
    path: fc.oneof(
      { weight: 4, arbitrary: path },
      { weight: 1, arbitrary: whole },
      { weight: 2, arbitrary: climb },
    ),
    search,
  })
  .map(({ form, path, search }) => form + path + search)
  // A line break would end the target.
  .map(text => text.replace(/[\r\n]/g, ''))
const request = fc.record({
  target,
  method: fc.oneof({ weight: 3, arbitrary: fc.constant('GET') }, { weight: 2, arbitrary: oneOf(METHODS) }),
  credential: fc.constantFrom('reader', 'reader', 'none'),
  version: fc.oneof(
    { weight: 9, arbitrary: fc.constant('1.1') },
    { weight: 1, arbitrary: oneOf('1.0 2.0 0.9 9.9 x') },
  ),
})
type Hostile = typeof request extends fc.Arbitrary<infer Given> ? Given : never

/** An absolute URL whose host is a name or an address (RFC 3986 §3.2.2), with an optional port. */
const ABSOLUTE =
  /^https?:\/\/(?:(?:[\w.~!$&'()*+,;=-]|%[a-f0-9]{2})+|\[[a-f0-9:.]+\])(?::\d*)?((?:[/?#].*)?)$/is
const PLAIN = /^[\x21-\x5b\x5d-\x7e\x80-\xff]*$/

/** The path of the target by RFC 9112 §3.2, without the prefix; undefined if programs interpret it differently. */
function plainPath(given: string): string | undefined {
  // Servers may skip spaces around the target (RFC 9112 §3).
  const target = given.replace(/^ +| +$/g, '')
  const absolute = ABSOLUTE.exec(target)?.[1]
  const [path = ''] = (absolute ?? target).split(/[?#]/)
  const whole = absolute !== undefined && path === '' ? '/' : path
  if (!`${whole}/`.startsWith(`${PREFIX}/`) || !PLAIN.test(whole)) return undefined
  try {
    const segments = whole.slice(PREFIX.length).split('/').map(decodeURIComponent)
    if (segments.some(text => text === '.' || text === '..')) return undefined
    return segments
      .map(encodeURIComponent)
      .join('/')
      .replace(/(.)\/$/, '$1')
  } catch {
    return undefined
  }
}

/** The documentation pages, which the document does not list. */
const PAGES = /^\/(docs(\/.*)?)?$/

/** Checks that a successful response is that of the operation which the target names literally. */
function isThatOfTheTarget({ target, method, credential }: Hostile, answer: RawAnswer, what: string) {
  const { status, bytes } = answer
  if (status >= 400) return
  const plain = plainPath(target)
  if (plain !== undefined && PAGES.test(plain) && ['GET', 'HEAD'].includes(method)) return
  const operation = plain === undefined ? undefined : service.contract.find(method, plain)
  if (!operation) throw new Error(`${what} succeeded with ${status}: ${bytes.subarray(0, 300)}`)
  const isPublic = operation.definition.security?.length === 0
  expect(isPublic || credential === 'reader', what).toBe(true)
  isOf(operation, answer, method === 'HEAD')
  expect(bytes.includes('gantry_ready'), what).toBe(operation.template === '/metrics' && method === 'GET')
  if (method === 'GET' && operation.template === '/apis/{api_id}')
    expect(bytes.toString()).toContain(plain?.split('/')[2])
}

async function send(hostile: Hostile) {
  const { target, method, credential, version } = hostile
  const sent = target.replaceAll('API-ID', api)
  const what = JSON.stringify({ ...hostile, target: sent.slice(0, 300) })
  const authorization = credential === 'reader' ? [`Authorization: ${reader}`] : []
  const bytes = requestOf(method, sent, [...authorization, 'Connection: close'], '', version)
  // A server without tunnels may close the connection after CONNECT.
  const answer = await exchange([{ bytes, afterMs: 0 }], { method })
  if (!answer) expect([method, what]).toEqual(['CONNECT', what])
  if (!answer) return undefined
  isNoFault(answer, what)
  isThatOfTheTarget({ ...hostile, target: sent }, answer, what)
  return answer.status
}

test('a hostile request target is refused or reaches only the operation that it names literally', async () => {
  const statuses = await sendAll(sample(request, 400), send)
  await isReady()
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 400, 401, 404]))
})
