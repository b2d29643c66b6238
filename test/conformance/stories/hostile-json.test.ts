import { beforeAll, expect, test } from 'vitest'
import { createApi } from '../src/apis.ts'
import { admin, cleanUp, service, unique, uuid } from '../src/gantry.ts'
import { isReady, listsEverything, sendAll } from '../src/hostile.ts'
import { PREFIX } from '../src/raw.ts'

/** Maximum nesting of an accepted body: 64 levels in a free-form value, and the body itself. */
const MOST_LEVELS = 65
const PLACE = '"the place of the hostile value"'

const LEAVES = [
  ...['0', '-0', '1e999', '1E-999', '9'.repeat(400), 'null', 'true', '""', '"x"', '{}', '[]'],
  ...['"\\u0000"', '"\\ud800"', '"\\u202e"', '{"a":1,"a":2}', '{"":0}'],
  ...['{"__proto__":{"a":1}}', '{"constructor":{"prototype":{"a":1}}}', '{"toJSON":1}', '{"$where":"1"}'],
]
const SHELLS: [string, string][] = [
  ['[', ']'],
  ['{"a":', '}'],
  ['[0,', ',{}]'],
  ['{"b":[],"a":', ',"c":1}'],
]
const nested = (levels: number, [open, close]: [string, string]) =>
  `${open.repeat(levels)}0${close.repeat(levels)}`
const items = (count: number, item: (n: number) => string) => Array.from({ length: count }, (_, n) => item(n))
const VALUES = [
  ...LEAVES,
  ...SHELLS.flatMap(shell =>
    [1, 62, 63, 64, 65, 66, 130, 4_300, 200_000].map(levels => nested(levels, shell)),
  ),
  ...[300, 9_999, 10_000, 10_001, 60_000].flatMap(count => [
    `[${items(count, () => '{"a":[]}').join()}]`,
    `{${items(count, n => `"k${n}":0`).join()}}`,
  ]),
  ...['x', 'é', '😀', '\\u0000', '\\"', '\\ud800', ' '].flatMap(unit =>
    [262_100, 262_200].map(bytes => `"${unit.repeat(bytes / Buffer.byteLength(unit))}"`),
  ),
  `"${'x'.repeat(1_100_000)}"`,
]

/** Operations with a JSON body, except logout, which would end the session of the stories. */
const OPERATIONS = service.contract.operations.flatMap(({ method, template, definition }) => {
  const [type, media] = Object.entries(definition.requestBody?.content ?? {})[0] ?? []
  if (!type?.endsWith('json') || template === '/logout') return []
  return [{ method, template, type, example: (media?.example ?? {}) as Record<string, unknown> }]
})
type JsonOperation = (typeof OPERATIONS)[number]

/** A copy of an example that is accepted every time and has no effects outside of the service. */
const renewed = (example: Record<string, unknown>): Record<string, unknown> => ({
  ...example,
  ...('name' in example && { name: unique('hostile') }),
  ...('username' in example && { username: unique('hostile') }),
  ...('specversion' in example && { id: uuid() }),
  ...('active' in example && { active: false }),
})

/** The body with the value as an unknown member, in place of a member, or alone, by the number of the request. */
function bodyOf(example: Record<string, unknown>, value: string, number: number): string {
  const body = renewed(example)
  const members = Object.keys(body)
  const place = number % (members.length + 3)
  if (place === members.length) return value
  const name = members[place] ?? (place === members.length + 1 ? '__proto__' : 'extra')
  const text = JSON.stringify(Object.fromEntries([...Object.entries(body), [name, PLACE]]))
  return text.replace(PLACE, () => value)
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

let api: string
beforeAll(async () => {
  api = (await createApi()).id
})

test('a hostile value anywhere in a body is accepted or refused, and does not affect later requests', async () => {
  const send = async ([{ method, template, type }, body, key]: [JsonOperation, string, boolean]) => {
    const path = template.replace('{api_id}', api).replace(/\{\w+\}/g, uuid)
    const headers = { 'content-type': type, ...(key && { 'idempotency-key': uuid() }) }
    const answer = await admin.request(method, path, undefined, { body, headers })
    if (answer.status >= 500) answer.is(503)
    // The operation validates no field of such a body. One that is too large for the operation is not parsed.
    if (levelsIn(body) > MOST_LEVELS && answer.status !== 413)
      expect(answer.refused(400, 'invalid-request').detail).toBe('the body must be at most 65 levels deep')
    const location = answer.headers.get('location')
    if (answer.status === 201 && location)
      cleanUp(new URL(location, service.baseUrl).pathname.slice(PREFIX.length))
    return answer.status
  }
  const takesFreeForm = OPERATIONS.find(({ template }) => template === '/events') as JsonOperation
  const requests = VALUES.flatMap((value, n): [JsonOperation, string, boolean][] => {
    const operation = OPERATIONS[n % OPERATIONS.length] as JsonOperation
    const data = JSON.stringify({ ...renewed(takesFreeForm.example), data: { inside: PLACE } })
    return [
      [operation, bodyOf(operation.example, value, n), n % 2 === 0],
      [takesFreeForm, data.replace(PLACE, () => value), n % 2 === 1],
    ]
  })
  const statuses = await sendAll(requests, send)
  await isReady()
  await listsEverything()
  expect(statuses.get(202)).toBeGreaterThan(VALUES.length / 4)
  expect(statuses.get(400)).toBeGreaterThan(VALUES.length / 2)
})
