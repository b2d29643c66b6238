import { describe, expect, test } from 'vitest'
import type { Client } from '../src/client.ts'
import { admin, cleanUp, createUser, findListed, loggedIn, unique, uuid } from '../src/gantry.ts'
import type { AuditRecord, Page, User, Webhook } from '../src/records.ts'

const create = async (client: Client, eventTypes = ['API_CREATED']) => {
  const fields = { displayName: unique('hook'), url: 'https://example.com/', active: true, eventTypes }
  const webhook = (await client.post('/webhooks', fields)).as<Webhook>(201)
  cleanUp(`/webhooks/${webhook.id}`)
  return webhook
}
const put = (client: Client, { id, displayName, url, eventTypes }: Webhook, changes: object = {}) =>
  client.put(`/webhooks/${id}`, { displayName, url, events: eventTypes, ...changes })
const read = async (id: string) => (await admin.get(`/webhooks/${id}`)).as<Webhook>(200)

const someone = async (fields: Partial<User> = {}) => {
  const user = await createUser({ role: 'USER', ...fields })
  return { user, client: await loggedIn(user) }
}

describe('the owner of a webhook', () => {
  test('is the user who created it, whoever changes it', async () => {
    const { user, client } = await someone()
    const webhook = await create(client)
    expect(webhook.owner).toBe(user.id)
    const other = await someone()
    expect((await put(other.client, webhook, { name: 'renamed' })).as<Webhook>(200).owner).toBe(user.id)
    expect((await read(webhook.id)).owner).toBe(user.id)
    expect((await findListed<Webhook>('/webhooks', webhook.id))?.owner).toBe(user.id)
  })

  test('is changed by an administrator, which the audit log tells', async () => {
    const { user, client } = await someone()
    const { user: next } = await someone()
    const { user: administrator, client: administering } = await someone({ role: 'ADMIN' })
    const webhook = await create(client)
    const before = (await admin.get(`/webhooks/${webhook.id}`)).headers.get('etag')
    const answer = await put(administering, webhook, { owner: next.id, name: 'transferred' })
    expect(answer.as<Webhook>(200)).toMatchObject({ owner: next.id, name: 'transferred' })
    expect(answer.headers.get('etag')).not.toBe(before)
    expect(await read(webhook.id)).toEqual(answer.json)
    const query = { resource: webhook.id, action: 'WEBHOOK_TRANSFERRED' }
    const { content } = (await admin.get('/auditLog', query)).as<Page<AuditRecord>>(200)
    expect(content).toMatchObject([
      {
        user: { id: administrator.id },
        details: { before: { owner: user.id }, after: { owner: next.id } },
      },
    ])
  })

  test('is not changed by others, not by the owner either', async () => {
    const { client } = await someone()
    const { user: next, client: taking } = await someone()
    const webhook = await create(client)
    for (const each of [client, taking])
      (await put(each, webhook, { owner: next.id })).refused(403, 'role-missing')
    expect((await put(taking, webhook, { owner: webhook.owner })).as<Webhook>(200).owner).toBe(webhook.owner)
    expect(await read(webhook.id)).toMatchObject({ owner: webhook.owner })
  })

  test('is an active user', async () => {
    const { client } = await someone()
    const webhook = await create(client)
    const { user: deleted } = await someone()
    ;(await admin.delete(`/users/${deleted.id}`)).is(204)
    const inactive = await createUser({ status: 'INACTIVE' })
    for (const owner of [deleted.id, inactive.id, uuid(), 'grace']) {
      const problem = (await put(admin, webhook, { owner })).refused(400, 'invalid-request')
      expect(problem.errors?.map(({ field }) => field)).toEqual(['owner'])
    }
    expect(await read(webhook.id)).toMatchObject({ owner: webhook.owner })
  })
})
