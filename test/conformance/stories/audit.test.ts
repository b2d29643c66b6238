import { createPublicKey, verify } from 'node:crypto'
import { type AuditKey, canonicalJson, verifyExport } from '@gantry/audit'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { apiFields, createApi, createVersion } from '../src/apis.ts'
import { admin, anonymous, cleanUp, eventually, unique, uuid } from '../src/gantry.ts'
import type { Api, AuditRecord, Page, Webhook } from '../src/records.ts'
import { createToken, createUser, logIn, PASSWORD, userWithRole } from '../src/users.ts'

const list = async (query = {}) => (await admin.get('/auditLog', query)).as<Page<AuditRecord>>(200)
/** The record of one request, found by the X-Request-Id that was sent with it. */
const doneIn = (requestId: string, query: object) =>
  eventually(async () => {
    const { content } = await list({ size: 100, ...query })
    const record = content.find(candidate => candidate.requestId === requestId)
    if (!record) throw new Error(`No record of request ${requestId} with ${JSON.stringify(query)}`)
    return record
  })

const published = async <Key>(file: string) =>
  (await anonymous.get(`/.well-known/${file}`, {}, { undocumented: true })).as<{ keys: Key[] }>(200).keys

describe('a change', () => {
  const [creation, update, deletion] = [uuid(), uuid(), uuid()]
  let api: Api
  beforeAll(async () => {
    const by = (id: string) => ({ headers: { 'x-request-id': id } })
    const fields = apiFields({ description: 'as it was' })
    api = (await admin.post('/apis', fields, by(creation))).as<Api>(201)
    ;(await admin.put(`/apis/${api.id}`, { ...fields, description: 'as it is' }, by(update))).is(200)
    ;(await admin.delete(`/apis/${api.id}`, by(deletion))).is(204)
  })
  const record = (requestId: string) => doneIn(requestId, { resource: api.id })

  test('is recorded once, with its user, resource, time, and state before and after', async () => {
    const [created, updated, deleted] = [await record(creation), await record(update), await record(deletion)]
    expect(updated).toMatchObject({ resourceId: api.id, requestId: update })
    expect(updated.resourceType).toMatch(/api/i)
    expect(JSON.stringify(updated.user)).toContain(inject('admin').username)
    expect(Date.parse(updated.timestamp)).toBeGreaterThanOrEqual(Date.parse(api.createdAt))
    expect(created.details.before).toBeNull()
    expect(created.details.after).toMatchObject({ description: 'as it was' })
    expect(updated.details.before).toMatchObject({ description: 'as it was' })
    expect(updated.details.after).toMatchObject({ description: 'as it is' })
    expect(deleted.details.before).toMatchObject({ description: 'as it is' })
    expect(deleted.details.after).toBeNull()
    expect(new Set([created, updated, deleted].map(({ action }) => action)).size).toBe(3)
    const { content, totalElements } = await list({ resource: api.id, size: 100 })
    expect(totalElements).toBe(3)
    expect(content.map(entry => entry.requestId).toSorted()).toEqual([creation, update, deletion].toSorted())
  })

  test('is found by text, user, action, resource and time', async () => {
    const { action, timestamp, id } = await record(update)
    const at = Date.parse(timestamp)
    const time = (ms: number) => new Date(at + ms).toISOString()
    const found = async (query: object) =>
      (await list({ resource: api.id, size: 100, ...query })).content.map(entry => entry.id)

    expect(await found({})).toHaveLength(3)
    expect(await found({ action })).toEqual([id])
    expect(await found({ action: 'NOTHING_LIKE_THIS' })).toEqual([])
    expect(await found({ user: inject('admin').username })).toHaveLength(3)
    expect(await found({ user: uuid() })).toEqual([])
    expect(await found({ from: time(-60_000), to: time(60_000) })).toContain(id)
    expect(await found({ from: time(60_000) })).not.toContain(id)
    expect(await found({ to: time(-60_000) })).not.toContain(id)
    expect(await found({ text: api.id })).toContain(id)
    expect(await found({ text: 'nowhere to be found' })).toEqual([])
    expect((await list({ resource: uuid() })).totalElements).toBe(0)
    expect(
      (await list({ action, from: time(-1000), size: 100 })).content.every(entry => entry.action === action),
    ).toBe(true)
  })
})

test('what belongs to an API is found by the last name of the API', async () => {
  const api = await createApi()
  const version = await createVersion(api)
  const displayName = unique('renamed')
  ;(await admin.put(`/apis/${api.id}`, apiFields({ name: api.name, displayName }))).is(200)
  const found = await eventually(async () => {
    const { content } = await list({ text: `${displayName} api_version_created` })
    expect(content).toHaveLength(1)
    return content
  })
  expect(found).toMatchObject([{ resourceType: 'API_VERSION', resourceId: version.id }])
})

test('the record names the user that made the change, and a refused request is not recorded', async () => {
  const { user, client } = userWithRole('ADMIN')
  const [refused, requestId] = [uuid(), uuid()]
  const by = (id: string) => ({ headers: { 'x-request-id': id } })
  ;(await client.post('/apis', apiFields({ status: 'SLEEPING' }), by(refused))).refused(400)
  const api = (await client.post('/apis', apiFields(), by(requestId))).as<Api>(201)
  cleanUp(`/apis/${api.id}`)
  const entry = await doneIn(requestId, { resource: api.id })
  expect(JSON.stringify(entry.user)).toContain(user.id)
  expect((await list({ user: user.id, resource: api.id })).totalElements).toBe(1)
  const from = new Date(Date.parse(api.createdAt) - 10_000).toISOString()
  const { content } = await list({ size: 100, from, user: user.id })
  expect(content.filter(({ requestId }) => requestId === refused)).toEqual([])
})

test('users, tokens and webhooks are recorded, without their secrets', async () => {
  const user = await createUser()
  ;(await logIn(user.username)).is(200)
  const { id: tokenId, token } = await createToken(admin, ['API_READ'])
  cleanUp(`/accessTokens/${tokenId}`)
  const hook = {
    displayName: unique('hook'),
    url: 'https://example.com/',
    active: false,
    eventTypes: ['TEST'],
  }
  const { id: webhookId, secret = '' } = (await admin.post('/webhooks', hook)).as<Webhook>(201)
  cleanUp(`/webhooks/${webhookId}`)

  for (const resource of [user.id, tokenId, webhookId]) {
    const shown = await eventually(async () => {
      const answer = await admin.get('/auditLog', { resource, size: 100 })
      expect(answer.as<Page<AuditRecord>>(200).totalElements).toBeGreaterThan(0)
      return answer.text
    })
    for (const hidden of [token, secret, PASSWORD, 'argon2']) expect(shown).not.toContain(hidden)
  }
})

test('the log is sorted by time', async () => {
  const oldest = await list({ size: 5, sort: 'timestamp,asc' })
  const times = oldest.content.map(entry => entry.timestamp)
  expect(times).toEqual(times.toSorted())
  for (const query of [{ from: 'yesterday' }, { to: '7' }]) (await admin.get('/auditLog', query)).refused(400)
})

describe('the proofs of the audit log', () => {
  interface Proofs extends Page<{ day: string; valid: boolean }> {
    head: {
      number: number
      position: string
      chainHash: string
      log: object
      kid: string
      signedAt: string
      signature: string
    }
  }
  type Key = { kid: string; kty: string; crv: string; x: string; validFrom: string }
  const proofs = async (query = {}) => (await admin.get('/auditLog/proofs', query)).as<Proofs>(200)

  test('sign the end of the hash chain with a published key that is no key of logins', async () => {
    const { head, number } = await proofs({ sort: 'day,desc', size: 1 })
    expect(number).toBe(1)
    const key = (await published<Key>('audit-keys.json')).find(({ kid }) => kid === head.kid)
    if (!key) throw new Error(`the key ${head.kid} is not published`)
    expect((await published<Key>('jwks.json')).map(({ kid }) => kid)).not.toContain(head.kid)
    const { signature, ...signed } = head
    const text = canonicalJson({ head: signed })
    const publicKey = createPublicKey({ key: { kty: key.kty, crv: key.crv, x: key.x }, format: 'jwk' })
    const proven = (said: string) =>
      verify(null, Buffer.from(said), publicKey, Buffer.from(signature, 'base64url'))
    expect(proven(text)).toBe(true)
    expect(proven(text.replace('"number":', '"number":1'))).toBe(false)
  })

  test('continue with each record, which has its number in the chain', async () => {
    const before = (await proofs()).head
    const requestId = uuid()
    ;(await admin.post('/apis', apiFields(), { headers: { 'x-request-id': requestId } })).is(201)
    const { content } = await list({ size: 100 })
    const record = content.find(candidate => candidate.requestId === requestId) as AuditRecord & {
      number: number
    }
    expect(record.number).toBeGreaterThan(before.number)
    const after = (await proofs()).head
    expect(after.number).toBeGreaterThanOrEqual(record.number)
    expect(after.chainHash).not.toBe(before.chainHash)
  })
})

describe('an export', () => {
  test.for(['ndjson', 'csv', 'cef'])(
    'as %s is proven by the published keys, whatever the filter',
    async format => {
      const api = await createApi()
      const answer = (await admin.get('/auditLog/export', { format, resource: api.id })).is(200)
      expect(answer.text).toContain(api.id)
      const keys = await published<AuditKey>('audit-keys.json')
      const { broken, warnings, ...found } = await verifyExport([Buffer.from(answer.text)], keys)
      expect([broken, warnings]).toEqual([undefined, []])
      expect(found).toMatchObject({ count: 1, trailer: { complete: true, filter: { resource: api.id } } })
      const damaged = Buffer.from(answer.text.replace(api.name, `${api.name}x`))
      const number = found.trailer?.last?.number
      expect((await verifyExport([damaged], keys)).broken).toMatchObject({ number })
    },
  )
})
