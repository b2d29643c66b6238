import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { admin, cleanUp, createApi, service, unique, uuid } from '../src/gantry.ts'
import { isReady, listsEverything, sample, sendAll } from '../src/hostile.ts'
import { PREFIX } from '../src/raw.ts'

const REQUESTS = 120
/** Maximum nesting of an accepted body: 64 levels in a free-form value, and the body itself. */
const MOST_LEVELS = 65
const PLACE = '"the place of the hostile value"'

/** Operations with a JSON body, except logout, which would end the session of the stories. */
const OPERATIONS = service.contract.operations.flatMap(({ method, template, definition }) => {
  const [type, media] = Object.entries(definition.requestBody?.content ?? {})[0] ?? []
  if (!type?.endsWith('json') || template === '/logout') return []
  return [{ method, template, type, example: (media?.example ?? {}) as Record<string, unknown> }]
})

let api: string
beforeAll(async () => {
  api = (await createApi()).id
})

const leaf = fc.constantFrom(
  ...['0', '-0', '1e999', '1E-999', '9'.repeat(400), 'null', 'true', '""', '"x"', '{}', '[]'],
  ...['"\\u0000"', '"\\ud800"', '"\\u202e"', '{"a":1,"a":2}', '{"":0}'],
  ...['{"__proto__":{"a":1}}', '{"constructor":{"prototype":{"a":1}}}', '{"toJSON":1}', '{"$where":"1"}'],
)
const deep = fc
  .record({
    levels: fc.oneof(
      fc.integer({ min: 1, max: 130 }),
      fc.integer({ min: 60, max: 68 }),
      fc.constantFrom(2_000, 4_300, 20_000, 200_000),
    ),
    shells: fc.array(
      fc.constantFrom(['[', ']'], ['{"a":', '}'], ['[0,', ',{}]'], ['{"b":[],"a":', ',"c":1}']),
      {
        minLength: 1,
        maxLength: 3,
      },
    ),
    leaf,
  })
  .map(({ levels, shells, leaf }) => {
    const shell = (level: number) => shells[level % shells.length] as [string, string]
    const all = Array.from({ length: levels }, (_, level) => shell(level))
    return `${all.map(([open]) => open).join('')}${leaf}${all
      .toReversed()
      .map(([, close]) => close)
      .join('')}`
  })
const wide = fc
  .record({
    members: fc.constantFrom(10, 300, 9_998, 9_999, 10_000, 10_001, 60_000),
    isObject: fc.boolean(),
    leaf: fc.constantFrom('0', '""', '[]', '{}', '{"a":[]}'),
  })
  .map(({ members, isObject, leaf }) => {
    const items = Array.from({ length: members }, (_, n) => (isObject ? `"k${n}":${leaf}` : leaf))
    return isObject ? `{${items.join()}}` : `[${items.join()}]`
  })
const large = fc
  .record({
    bytes: fc.constantFrom(5_000, 262_100, 262_144, 262_200, 1_000_000, 1_100_000),
    unit: fc.constantFrom('x', 'é', '😀', '\\u0000', '\\"', '\\ud800', ' '),
  })
  .map(({ bytes, unit }) => `"${unit.repeat(bytes / Buffer.byteLength(unit))}"`)
const parts = fc.array(fc.oneof(leaf, deep, wide, large), { minLength: 1, maxLength: 4 })
const mixed = fc.oneof(
  parts.map(values => `[${values.join()}]`),
  parts.map(values => `{${values.map((value, n) => `"m${n}":${value}`).join()}}`),
)
const value = fc.oneof(leaf, { weight: 3, arbitrary: deep }, wide, large, mixed)

/** Where the value is put in the example of the document. */
const place = fc.oneof(
  fc.record({ as: fc.constant('member' as const), member: fc.nat(), deeper: fc.boolean() }),
  fc.record({
    as: fc.constant('extra' as const),
    name: fc.constantFrom('extra', '__proto__', 'toString', 'data'),
  }),
  fc.constant({ as: 'whole' as const }),
)
type Place = typeof place extends fc.Arbitrary<infer Given> ? Given : never

/** A copy of an example that is accepted every time and has no effects outside of the service. */
const renewed = (example: Record<string, unknown>) => ({
  ...example,
  ...('name' in example && { name: unique('hostile') }),
  ...('username' in example && { username: unique('hostile') }),
  ...('specversion' in example && { id: uuid() }),
  ...('active' in example && { active: false }),
})

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function bodyOf(example: Record<string, unknown>, where: Place, value: string): string {
  if (where.as === 'whole') return value
  const body: Record<string, unknown> = renewed(example)
  if (where.as === 'extra') {
    const text = JSON.stringify(body)
    return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"${where.name}":${value}}`
  }
  const objects = Object.keys(body).filter(name => isObject(body[name]))
  const names = where.deeper && objects.length > 0 ? objects : Object.keys(body)
  const name = names[where.member % names.length] ?? 'data'
  const inner = body[name]
  const put = where.deeper && isObject(inner) ? { ...inner, inside: PLACE } : PLACE
  return JSON.stringify({ ...body, [name]: put }).replace(JSON.stringify(PLACE), () => value)
}

/** Maximum nesting of objects and arrays in a JSON text. */
function levelsIn(text: string): number {
  let [level, most] = [0, 0]
  for (const [mark] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{]|[\]}]/g)) {
    if (mark === '[' || mark === '{') most = Math.max(most, ++level)
    if (mark === ']' || mark === '}') level--
  }
  return most
}

const takesFreeForm = OPERATIONS.filter(({ template }) => template === '/events')
const request = fc.record({
  operation: fc.oneof(fc.constantFrom(...OPERATIONS), fc.constantFrom(...takesFreeForm)),
  where: place,
  value,
  once: fc.boolean(),
})
type Hostile = typeof request extends fc.Arbitrary<infer Given> ? Given : never

const send = async ({ operation: { method, template, type, example }, where, value, once }: Hostile) => {
  const path = template.replace('{api_id}', api).replace(/\{\w+\}/g, uuid)
  const options = {
    body: bodyOf(example, where, value),
    headers: { 'content-type': type, ...(once && { 'idempotency-key': uuid() }) },
  }
  const answer = await admin.request(method, path, undefined, options)
  if (answer.status >= 500) answer.is(503)
  if (answer.status < 300) expect(levelsIn(options.body)).toBeLessThanOrEqual(MOST_LEVELS)
  const location = answer.headers.get('location')
  if (answer.status === 201 && location)
    cleanUp(new URL(location, service.baseUrl).pathname.slice(PREFIX.length))
  return answer.status
}

test('a hostile value anywhere in a body is accepted or refused, and does not affect later requests', async () => {
  const requests = sample(request, REQUESTS)
  expect(new Set(requests.map(({ operation }) => operation.template)).size).toBe(
    new Set(OPERATIONS.map(({ template }) => template)).size,
  )
  const statuses = await sendAll(requests, send)
  await isReady()
  await listsEverything()
  expect(statuses.get(400)).toBeGreaterThan(REQUESTS / 10)
  expect([...statuses.keys()].some(status => status !== undefined && status < 300)).toBe(true)
})
