import type { HistoryEntry } from '@gantry/contracts'
import { applyPatch, type Operation } from 'rfc6902'
import { describe, expect, test } from 'vitest'
import { apiFields, createApi, createVersion, deploy, readApi } from '../src/apis.ts'
import { admin, eventually, unique, uuid } from '../src/gantry.ts'
import { form, png } from '../src/images.ts'
import { platformEvent, publish } from '../src/platform-events.ts'
import type { Api, AuditRecord, Page, Version, Webhook } from '../src/records.ts'
import { createUser, loggedIn, scopedTo, userWithRole } from '../src/users.ts'

type Entry = Omit<HistoryEntry, 'changes'> & { changes: (Operation & { before?: unknown })[] }

const historyOf = async (path: string, query = {}, client = admin) =>
  (await client.get(`${path}/history`, { size: 100, sort: 'timestamp,asc', ...query })).as<Page<Entry>>(200)
    .content

/** The record that results from all changes, from the empty object on. */
const replayed = (entries: readonly Entry[]) => {
  const record = {}
  for (const { changes } of entries) {
    for (const { before, ...operation } of changes) {
      const field = operation.path.slice(1) as keyof typeof record
      expect(record[field], operation.path).toEqual(before)
      expect(applyPatch(record, [operation as Operation])).toEqual([null])
    }
  }
  return record
}
const withoutName = ({ ownerDisplayName, ...record }: Api) => record
const operations = (entries: readonly Entry[]) => entries.map(({ operation }) => operation)

describe.concurrent('the history of an API', () => {
  test('leads from nothing to the record, and after the deletion back to nothing', async () => {
    const requestId = uuid()
    const { user: author, client } = userWithRole('ADMIN')
    const api = await createApi({ tags: ['a'] })
    const fields = { name: api.name, description: 'New', url: '/new', tags: ['a', 'b'] }
    const put = await client.put(`/apis/${api.id}`, apiFields(fields), {
      headers: { 'x-request-id': requestId },
    })
    const changed = put.as<Api>(200)
    ;(await admin.put(`/apis/${api.id}/image`, undefined, { body: form(png(1, 1)) })).is(200)
    const { environment } = await deploy(api)
    ;(await admin.delete(`/apis/${api.id}/image`)).is(204)
    ;(await admin.post(`/apis/${api.id}/restore`, { at: api.createdAt })).is(200)

    const path = `/apis/${api.id}`
    const entries = await historyOf(path)
    expect(operations(entries)).toEqual([
      'API_CREATED',
      'API_UPDATED',
      'API_IMAGE_UPDATED',
      'API_DEPLOYMENT_STARTED',
      'API_DEPLOYED',
      'API_IMAGE_DELETED',
      'API_RESTORED',
    ])
    expect(entries.map(entry => entry.environment)).toEqual(
      entries.map(({ operation }) => (operation.includes('DEPLOY') ? environment : null)),
    )
    const record = await readApi(api.id)
    expect(replayed(entries)).toEqual(withoutName(record))
    // The audit log has the changes of images as media recorded them.
    const query = { resource: api.id, sort: 'timestamp,asc', size: 100 }
    const audited = (await admin.get('/auditLog', query)).as<Page<AuditRecord>>(200).content
    expect(operations(entries)).toEqual(expect.arrayContaining(audited.map(({ action }) => action)))
    const inBoth = ({ id, timestamp, environment, requestId }: Entry | AuditRecord) => ({
      ...{ id, timestamp, environment, requestId },
    })
    const ofCatalog = audited.filter(({ action }) => !action.includes('IMAGE'))
    expect(entries.filter(({ operation }) => !operation.includes('IMAGE')).map(inBoth)).toEqual(
      ofCatalog.map(inBoth),
    )
    expect(entries[1]).toMatchObject({
      timestamp: changed.updatedAt,
      who: { id: author.id, username: author.username, displayName: author.displayName },
      resourceType: 'API',
      resourceId: api.id,
      restoredTo: null,
      requestId,
    })
    expect(put.etag.startsWith(`"${entries[1]?.revision}`)).toBe(true)
    expect(entries[1]?.changes).toEqual([
      { op: 'replace', path: '/description', value: 'New', before: null },
      { op: 'replace', path: '/url', value: '/new', before: null },
      { op: 'replace', path: '/tags', value: ['a', 'b'], before: ['a'] },
      { op: 'replace', path: '/updatedAt', value: changed.updatedAt, before: api.updatedAt },
    ])
    expect(entries.at(-1)).toMatchObject({ restoredTo: api.createdAt, timestamp: record.updatedAt })

    ;(await admin.delete(path)).is(204)
    ;(await admin.get(path)).refused(404, 'api-not-found')
    const all = await historyOf(path)
    expect(all.slice(0, -1)).toEqual(entries)
    expect(all.at(-1)).toMatchObject({ operation: 'API_DELETED', revision: null })
    expect(replayed(all)).toEqual({})
  })

  test('has no entry for a change that was not made, or that no field shows', async () => {
    const api = await createApi()
    ;(await admin.put(`/apis/${api.id}`, api)).is(200)
    const product = uuid()
    ;(await publish(platformEvent('PRODUCT_API_ADDED', { product, api: api.id }))).is(202)
    await eventually(async () => {
      const { content } = (await admin.get('/apis', { product })).as<Page<Api>>(200)
      expect(content).toHaveLength(1)
    })
    expect(operations(await historyOf(`/apis/${api.id}`))).toEqual(['API_CREATED'])
  })

  test('includes the changes of its versions on request', async () => {
    const api = await createApi()
    const { id } = await createVersion(api, { name: '1.0' })
    ;(await admin.put(`/apis/${api.id}/versions/1.0`, { name: '1.1' })).is(200)
    ;(await admin.put(`/apis/${api.id}`, apiFields({ name: api.name, displayName: 'B' }))).is(200)
    ;(await admin.delete(`/apis/${api.id}`)).is(204)
    expect(operations(await historyOf(`/apis/${api.id}`))).toEqual([
      'API_CREATED',
      'API_UPDATED',
      'API_DELETED',
    ])
    const entries = await historyOf(`/apis/${api.id}`, { includeVersions: true })
    const named = entries.map(({ operation, resourceType, resourceId }) => [
      operation,
      resourceType,
      resourceId,
    ])
    expect(named.slice(0, -2)).toEqual([
      ['API_CREATED', 'API', api.id],
      ['API_VERSION_CREATED', 'API_VERSION', id],
      ['API_VERSION_UPDATED', 'API_VERSION', id],
      ['API_UPDATED', 'API', api.id],
    ])
    expect(named.slice(-2).toSorted()).toEqual([
      ['API_DELETED', 'API', api.id],
      ['API_DELETED', 'API_VERSION', id],
    ])
  })

  test('is paged, newest first, and filtered by time', async () => {
    const api = await createApi()
    const path = `/apis/${api.id}`
    const times = [api.updatedAt]
    for (const displayName of ['B', 'C', 'D'])
      times.push((await admin.put(path, apiFields({ name: api.name, displayName }))).as<Api>(200).updatedAt)
    const page = (query: object) =>
      admin
        .get(`${path}/history`, query as Record<string, string>)
        .then(answer => answer.as<Page<Entry>>(200))

    const newest = await page({ size: 3 })
    expect(newest).toMatchObject({ size: 3, number: 1, totalPages: 2, totalElements: 4, last: false })
    expect(newest.content.map(({ timestamp }) => timestamp)).toEqual(times.toReversed().slice(0, 3))
    const oldest = await page({ size: 3, page: 2 })
    expect(operations(oldest.content)).toEqual(['API_CREATED'])
    expect(await page({ page: 9 })).toMatchObject({ content: [], last: true })
    const between = await page({ from: times[1] ?? '', to: times[3] ?? '', sort: 'timestamp,asc' })
    expect(between.content.map(({ timestamp }) => timestamp)).toEqual(times.slice(1, 3))
    expect(await page({ to: api.createdAt })).toMatchObject({ content: [], totalElements: 0 })
    for (const query of [{ from: 'yesterday' }, { sort: 'operation,asc' }, { size: 101 }, { user: 'ada' }])
      (await admin.get(`${path}/history`, query as never)).refused(400, 'invalid-request')
  })

  test('has no users for a caller without AUDIT_LOG_READ, and no names of erased users', async () => {
    const author = await createUser()
    const { id } = await createApi({}, await loggedIn(author))
    const reader = await scopedTo('API_READ')
    const [entry] = await historyOf(`/apis/${id}`, {}, reader)
    const [full] = await historyOf(`/apis/${id}`)
    expect(entry).toEqual({ ...full, who: null })
    expect(full?.who?.id).toBe(author.id)
    const auditor = await scopedTo('AUDIT_LOG_READ')
    ;(await auditor.get(`/apis/${id}/history`)).refused(403, 'scope-missing')
    ;(await admin.post(`/users/${author.id}/erase`)).is(200)
    const [erased] = await historyOf(`/apis/${id}`)
    expect(erased?.who).toEqual({ id: author.id, username: null, displayName: null })
  })
})

describe.concurrent('the history of a version', () => {
  test('is found by its id, and by the name that it had last', async () => {
    const api = await createApi()
    const versions = `/apis/${api.id}/versions`
    const version = await createVersion(api, { name: '1.0' })
    const renamed = (await admin.put(`${versions}/1.0`, { name: '1.1', status: 'RETIRED' })).as<Version>(200)
    const entries = await historyOf(`${versions}/${version.id.toUpperCase()}`)
    expect(operations(entries)).toEqual(['API_VERSION_CREATED', 'API_VERSION_UPDATED'])
    expect(replayed(entries)).toEqual(renamed)
    expect(await historyOf(`${versions}/1.0`)).toEqual(entries)
    const again = await createVersion(api, { name: '1.0' })
    expect(replayed(await historyOf(`${versions}/1.0`))).toEqual(again)

    ;(await admin.delete(`${versions}/1.1`)).is(204)
    ;(await admin.delete(`/apis/${api.id}`)).is(204)
    expect(operations(await historyOf(`${versions}/1.1`)).at(-1)).toBe('API_VERSION_DELETED')
    const last = await historyOf(`${versions}/1.0`)
    expect(operations(last)).toEqual(['API_VERSION_CREATED', 'API_DELETED'])
    expect(replayed(last)).toEqual({})
  })

  test('does not exist for the version of another API', async () => {
    const [api, other] = [await createApi(), await createApi()]
    const { id } = await createVersion(other)
    ;(await admin.get(`/apis/${api.id}/versions/${id}/history`)).refused(404, 'version-not-found')
  })
})

describe.concurrent('the history of a webhook', () => {
  test('leads from nothing to the record, without secrets', async () => {
    const input = {
      displayName: unique('hook'),
      url: 'https://example.com/a?b=c',
      active: true,
      eventTypes: ['TEST'],
    }
    const created = (await admin.post('/webhooks', input)).as<Webhook>(201)
    const path = `/webhooks/${created.id}`
    const owner = userWithRole('GLOBAL_ADMIN').user.id
    ;(await admin.put(path, { displayName: 'B', url: 'https://example.com/b', events: ['TEST'], owner })).is(
      200,
    )
    const rotated = (await admin.post(`${path}/rotateSecret`)).as<Webhook>(200)
    const entries = await historyOf(path)
    expect(operations(entries)).toEqual([
      'WEBHOOK_CREATED',
      'WEBHOOK_TRANSFERRED',
      'WEBHOOK_UPDATED',
      'WEBHOOK_SECRET_ROTATED',
    ])
    const { health, oldSecretValidUntil, ...recorded } = (await admin.get(path)).as<Webhook>(200)
    expect(replayed(entries)).toEqual(recorded)
    expect(entries.at(-1)).toMatchObject({ resourceType: 'WEBHOOK', resourceId: created.id, changes: [] })
    const shown = JSON.stringify(entries)
    for (const { secret } of [created, rotated])
      expect(shown).not.toContain((secret ?? '').slice('whsec_'.length))
    expect(shown).not.toMatch(/secrets?"|sealed/)

    ;(await admin.delete(path)).is(204)
    ;(await admin.get(path)).refused(404)
    expect(replayed(await historyOf(path))).toEqual({})
  })
})
