import { startServiceProcess } from '@gantry/standalone/testing'
import { expect, test, vi } from 'vitest'
import { call, newFolder } from './src/service.ts'

const DOCUMENTS = 30
const described = { description: 'ok' }
const operation = (n: number) => ({
  ...{ operationId: `get${n}`, summary: 'Get it', security: [] },
  responses: { 200: described, 400: described },
})
/** The rules take long enough for the death of the process to come in between. */
const paths = Object.fromEntries(
  Array.from({ length: 100 }, (_, n) => [`/things${n}`, { get: operation(n) }]),
)
const lines = Array.from({ length: DOCUMENTS }, (_, n) =>
  JSON.stringify({ openapi: '3.0.3', info: { title: `Killed ${n}`, version: '1' }, paths }),
)
const folder = newFolder()

interface RuleSet {
  id: string
  progress: { linted: number; total: number }
}

test('kill -9 while a rule set is applied to many documents: it is applied to the others after the restart', async () => {
  let service = await startServiceProcess(folder)
  const { url, authorization } = service
  const headers = { authorization, 'content-type': 'application/x-ndjson' }
  const asked = await fetch(`${url}/apis/import`, { method: 'POST', headers, body: lines.join('\n') })
  const { id: job } = (await asked.json()) as { id: string }
  const read = async <T>(path: string) => (await call<T>(service, 'GET', path)).body
  const until = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 120_000, interval: 20 })
  await until(async () => expect(await read(`/jobs/${job}`)).toMatchObject({ done: DOCUMENTS }))
  const content = 'rules: {info-contact: error}'
  const { id } = (await call<RuleSet>(service, 'POST', '/ruleSets', { name: 'House', content })).body
  const progress = async () => (await read<RuleSet>(`/ruleSets/${id}`)).progress
  await until(async () => expect((await progress()).linted).toBeGreaterThan(0))
  await service.kill()

  service = await startServiceProcess(folder)
  const { linted, total } = await progress()
  expect([linted < total, total]).toEqual([true, DOCUMENTS])
  await until(async () => expect(await progress()).toEqual({ linted: DOCUMENTS, total: DOCUMENTS }))
  const { content: results } = await read<{ content: { api: string }[] }>(`/jobs/${job}/results?size=100`)
  for (const { api } of results) {
    const path = `/apis/${api}/versions/1/documents`
    const found = await read<{ content: { ruleSet: string | null; code: string }[] }>(
      `${path}/openapi.json/findings?size=100`,
    )
    expect(found.content).toContainEqual(expect.objectContaining({ ruleSet: 'House', code: 'info-contact' }))
    const { content: documents } = await read<{ content: { score: number }[] }>(path)
    expect(documents).toEqual([expect.objectContaining({ score: expect.any(Number) })])
  }
  expect(await service.stop()).toBe(0)
})
