import { CHAIN_START, exportFormats, type FormatName, type Verification, verifyExport } from '@gantry/audit'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { hostIdentity, type IdentityHost, PASSWORD } from '../../testing/identity-host.ts'
import { auditConditions } from '../log/filter.ts'
import { exportedText } from './export.ts'
import { exportSlots } from './slots.ts'
import { type AuditSource, auditSource } from './source.ts'

let identity: IdentityHost
let source: AuditSource
let token: string
beforeAll(async () => {
  identity = await hostIdentity()
  const { readModels } = identity.host.dependencies
  const { keys } = identity.host.service.audit
  source = auditSource({
    readModels,
    namesOf: async ids =>
      new Map(ids.map(id => [id ?? '', { username: 'ada', displayName: 'Ada', deleted: false }])),
    personalOf: async () => undefined,
    conditions: auditConditions(readModels),
    keys: async () => (await keys.published()).keys,
    signer: keys.signer,
    check: { problem: async () => undefined },
  })
  token = await identity.loginToken('admin')
  for (const username of ['ada', 'grace', 'linus', 'niklaus'])
    await identity.as(token).post('/users', { body: { username, password: PASSWORD } })
  await vi.waitFor(async () => expect(await source.keys()).toHaveLength(1))
})
afterAll(() => identity.close())

const get = async (query: string, headers: Record<string, string> = {}) => {
  identity.host.actAs(await identity.host.service.authenticate(token))
  return identity.host.app.inject({ method: 'GET', url: `/auditLog/export${query}`, headers })
}
const verified = async (...texts: string[]): Promise<Verification> =>
  verifyExport(
    texts.map(text => Buffer.from(text)),
    await source.keys(),
  )
const FORMATS = ['ndjson', 'csv', 'cef'] as const

test.each(FORMATS)(
  'an export as %s has all records, and with a filter the hashes of the others',
  async format => {
    const whole = await get(`?format=${format}`)
    expect([whole.statusCode, whole.headers['content-type']]).toEqual([
      200,
      exportFormats[format].contentType,
    ])
    // Verified by the commitment of the record.
    expect(whole.body).toMatch(/"+personal"+:\{.*"+username"+:"+grace/)
    const { trailer, ...all } = await verified(whole.body)
    expect(all).toMatchObject({ count: trailer?.after.number, omitted: 0, warnings: [] })
    for (const [passing, filter] of [
      [5, { action: 'USER_CREATED' }],
      [4, { user: 'admin', action: 'USER_CREATED' }],
      [5, { text: 'user_created' }],
      [0, { to: '2020-01-01T00:00:00Z' }],
    ] as const) {
      const given = new URLSearchParams(Object.entries(filter))
      const { broken, trailer, ...found } = await verified((await get(`?format=${format}&${given}`)).body)
      expect(broken).toBeUndefined()
      expect(found.count + found.omitted).toBe(trailer?.after.number)
      expect([found.count, trailer?.filter]).toEqual([passing, filter])
    }
  },
)

test('the Accept header chooses the format, unless the query does', async () => {
  const typeOf = async (accept: string, query = '') => (await get(query, { accept })).headers['content-type']
  expect(await typeOf('*/*')).toBe('application/x-ndjson')
  expect(await typeOf('text/csv;q=0.5, text/plain')).toMatch(/^text\/plain/)
  expect(await typeOf('text/csv', '?format=cef')).toMatch(/^text\/plain/)
  expect((await get('', { accept: 'image/png' })).statusCode).toBe(406)
})

/** An export in parts of two records, cut off in the middle. */
async function interrupted(format: FormatName): Promise<{ kept: string; trailer: string }> {
  const to = (await source.end()).record.number
  let text = ''
  const request = { format, filter: {}, from: CHAIN_START, to, now: identity.now, part: 2 }
  for await (const piece of exportedText(source, request)) text += piece
  const lines = text.split(/(?<=\n)/)
  const at = lines.findIndex(line => line.includes('trailer'))
  const json = exportFormats[format].jsonIn(lines[at]?.replace(/\n$/, '') ?? '') ?? ''
  return { kept: lines.slice(0, at + 1).join(''), trailer: Buffer.from(json).toString('base64url') }
}

test.each(FORMATS)(
  'an interrupted export as %s continues after its last trailer, as one export',
  async format => {
    const { kept, trailer } = await interrupted(format)
    expect((await verified(kept)).broken?.reason).toMatch(/cut off/)
    const rest = await get(`?format=${format}&trailer=${trailer}`)
    const { count, trailer: last } = await verified(kept, rest.body)
    expect(last).toMatchObject({ complete: true, after: { number: count } })
  },
)

test('a part begins after a record', async () => {
  const part = await verified((await get('?after=3')).body)
  expect(part.trailer?.before.number).toBe(3)
  expect(part.count).toBe(Number(part.trailer?.after.number) - 3)
  expect(part.broken).toBeUndefined()
})

test('a beginning that is not in the log, or not of the export, is refused', async () => {
  const { trailer } = await interrupted('ndjson')
  const line = JSON.parse(Buffer.from(trailer, 'base64url').toString())
  const changed = (changes: object) =>
    Buffer.from(JSON.stringify({ ...line, trailer: { ...line.trailer, ...changes } })).toString('base64url')
  const detail = async (query: string) => {
    const answer = await get(query)
    expect(answer.statusCode).toBe(400)
    return answer.json().detail
  }
  expect(await detail('?after=999')).toMatch(/after must not be after the last record/)
  expect(await detail('?after=-1')).toMatch(/after must be the number of a record/)
  expect(await detail(`?after=1&trailer=${trailer}`)).toMatch(/after must be left out/)
  expect(await detail('?trailer=e30')).toMatch(/trailer must be the line of a trailer/)
  expect(await detail(`?trailer=${changed({ count: 1 })}`)).toMatch(
    /is not of this audit log: its signature is wrong/,
  )
  expect(await detail(`?trailer=${trailer}&action=USER_CREATED`)).toMatch(/of an export with other filters/)
  const complete = (await get('')).body.trimEnd().split('\n').at(-1) ?? ''
  expect(await detail(`?trailer=${Buffer.from(complete).toString('base64url')}`)).toMatch(/ends its export/)
})

test('the username of a filter means the same user throughout an export', async () => {
  const admin = identity.as(token)
  const all = { after: 0, to: (await source.end()).record.number }
  const selection = await source.selection({ user: 'admin' })
  const before = await selection(all)
  expect(before.size).toBeGreaterThan(0)
  const ids = new Map<string, string>()
  for (const { id, username } of (await admin.get('/users')).body.content) ids.set(username, id)
  const rename = async (from: string, to: string) => {
    const answer = await admin.put(`/users/${ids.get(from)}`, {
      body: { username: to, role: 'GLOBAL_ADMIN' },
    })
    expect([answer.status, answer.body.username]).toEqual([200, to])
  }
  await rename('admin', 'root')
  await rename('ada', 'admin')
  expect(await selection(all)).toEqual(before)
  expect((await (await source.selection({ user: 'admin' }))(all)).size).toBe(0)
})

const refusal = (code: string, detail: RegExp) =>
  expect.objectContaining({
    code,
    details: expect.objectContaining({ detail: expect.stringMatching(detail) }),
  })

test('a user runs two exports at a time, and a process four', async () => {
  const registry = new Registry()
  const slots = exportSlots(registry)
  const free = slots.take('ada')
  slots.take('ada')
  expect(() => slots.take('ada')).toThrow(refusal('too-many-requests', /^2 exports of this user are running/))
  slots.take('grace')
  free()
  free()
  slots.take('ada')
  slots.take('grace')
  expect(() => slots.take('linus')).toThrow(refusal('too-many-exports', /^4 exports are running/))
  expect((await registry.getSingleMetric('gantry_audit_exports')?.get())?.values[0]?.value).toBe(4)
})
