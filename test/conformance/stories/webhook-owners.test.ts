import { describe, expect, test } from 'vitest'
import type { Client } from '../src/client.ts'
import { working } from '../src/deliveries.ts'
import { admin, cleanUp, eventually, findListed, unique } from '../src/gantry.ts'
import { happen } from '../src/platform-events.ts'
import { heldReply, openInbox } from '../src/receiver.ts'
import type { AuditRecord, Page, User, Webhook } from '../src/records.ts'
import { createUser, loggedIn, userWithRole } from '../src/users.ts'
import { delivered, deliveryAbout, subscribe } from '../src/webhooks.ts'

const create = async (client: Client, eventTypes = ['API_CREATED']) => {
  const fields = { displayName: unique('hook'), url: 'https://example.com/', active: true, eventTypes }
  const webhook = (await client.post('/webhooks', fields)).as<Webhook>(201)
  cleanUp(`/webhooks/${webhook.id}`)
  return webhook
}
const put = (client: Client, { id, displayName, url, eventTypes }: Webhook, changes: object = {}) =>
  client.put(`/webhooks/${id}`, { displayName, url, events: eventTypes, ...changes })
const read = async (id: string) => (await admin.get(`/webhooks/${id}`)).as<Webhook>(200)

const newUser = async (fields: Partial<User> = {}) => {
  const user = await createUser({ role: 'USER', ...fields })
  return { user, client: await loggedIn(user) }
}

describe.concurrent('the owner of a webhook', () => {
  const { user: maker, client } = userWithRole('USER')

  test('stays the user who created it, until an administrator changes it, which the audit log records', async () => {
    const { user: administrator, client: administering } = userWithRole('ADMIN')
    const webhook = await create(client)
    expect(webhook.owner).toBe(maker.id)
    expect((await put(administering, webhook, { name: 'renamed' })).as<Webhook>(200).owner).toBe(maker.id)
    expect((await findListed<Webhook>('/webhooks', webhook.id))?.owner).toBe(maker.id)

    const { etag } = await admin.get(`/webhooks/${webhook.id}`)
    const owner = userWithRole('GLOBAL_ADMIN').user.id
    const answer = await put(administering, webhook, { owner, name: 'transferred' })
    expect(answer.as<Webhook>(200)).toMatchObject({ owner, name: 'transferred' })
    expect(answer.etag).not.toBe(etag)
    expect(await read(webhook.id)).toEqual(answer.json)
    const query = { resource: webhook.id, action: 'WEBHOOK_TRANSFERRED' }
    const { content } = (await admin.get('/auditLog', query)).as<Page<AuditRecord>>(200)
    const details = { before: { owner: maker.id }, after: { owner } }
    expect(content).toMatchObject([{ user: { id: administrator.id }, details }])
  })

  test('cannot be changed by others, including the owner', async () => {
    const { user: next, client: taking } = await newUser()
    const webhook = await create(client)
    for (const each of [client, taking])
      (await put(each, webhook, { owner: next.id })).refused(403, 'role-missing')
    expect((await put(taking, webhook, { owner: webhook.owner })).as<Webhook>(200).owner).toBe(webhook.owner)
    expect(await read(webhook.id)).toMatchObject({ owner: webhook.owner })
  })
})

describe.concurrent('a webhook whose owner may not read one of its event types', () => {
  /** A webhook of a user with an inbox, and another webhook that gets its WEBHOOK_DISABLED events. */
  const owned = async (type: string, fields: Partial<User> = {}) => {
    const about = unique('event')
    const { user, client } = await newUser(fields)
    const inbox = openInbox(about)
    const sent = { displayName: unique('hook'), url: inbox.url, active: true, eventTypes: [type] }
    const webhook = (await client.post('/webhooks', sent)).as<Webhook>(201)
    cleanUp(`/webhooks/${webhook.id}`)
    const { inbox: told } = await subscribe(['WEBHOOK_DISABLED'], { about: webhook.id })
    return { about, user, inbox, webhook, told }
  }
  const disabled = (id: string) =>
    eventually(async () => {
      const webhook = await read(id)
      expect(webhook).toMatchObject({ active: false, disabledReason: 'owner-lacks-scope' })
      return webhook
    })
  const change = async (user: User, changes: Partial<User>) =>
    (await admin.put(`/users/${user.id}`, { ...user, ...changes })).is(200)

  test.for<[string, (user: User) => Promise<unknown>]>([
    ['is deleted', async user => (await admin.delete(`/users/${user.id}`)).is(204)],
    ['is made inactive', user => change(user, { status: 'INACTIVE' })],
    ['gets a role without the scope', user => change(user, { role: 'NO_ACCESS' })],
  ])('is made inactive when the owner %s, with an event', async ([, act]) => {
    const { user, webhook, told, inbox, about } = await owned('SUBSCRIPTION_CREATED')
    await happen('SUBSCRIPTION_CREATED', about)
    await inbox.arrival(1)
    // The record of the webhook has the attempt in its health.
    await delivered(webhook, (await deliveryAbout(webhook, about)).id, 'SUCCESS')
    await act(user)
    const record = await disabled(webhook.id)
    expect(record.owner).toBe(user.id)
    const { payload } = await told.arrival(1)
    expect(payload).toMatchObject({
      type: 'WEBHOOK_DISABLED',
      data: { id: webhook.id, active: false, disabledReason: 'owner-lacks-scope' },
    })
    await happen('SUBSCRIPTION_CREATED', about)
    const problem = (await put(admin, webhook, { active: true })).refused(409, 'owner-lacks-scope')
    expect(problem.detail).toContain('SUBSCRIPTION_CREATED')
    expect(problem.detail).toContain('SUBSCRIPTIONS_READ')
    // The events of other stories are attempts as well.
    expect(await read(webhook.id)).toEqual({ ...record, health: expect.any(Object) })
    expect(inbox.received).toHaveLength(1)
  })

  test('gets pending and missed events after a transfer and a recovery', async () => {
    const { respond, letGo } = heldReply()
    const { user, webhook, inbox, about } = await owned('SUBSCRIPTION_CREATED')
    inbox.respond = respond
    const from = new Date(Date.now() - 1000).toISOString()
    await happen('SUBSCRIPTION_CREATED', `${about}-pending`)
    await inbox.arrival(1)
    await change(user, { role: 'NO_ACCESS' })
    await disabled(webhook.id)
    letGo({ status: 500 })
    const pending = await deliveryAbout(webhook, `${about}-pending`)
    await delivered(webhook, pending.id, 'RETRYING')
    await happen('SUBSCRIPTION_CREATED', `${about}-missed`)
    ;(await admin.post(`/webhooks/${webhook.id}/recover`, { from })).refused(409, 'webhook-inactive')

    inbox.respond = working
    const { user: next } = userWithRole('USER')
    ;(await put(admin, webhook, { active: true, owner: next.id })).is(200)
    await delivered(webhook, pending.id, 'SUCCESS')
    ;(await admin.post(`/webhooks/${webhook.id}/recover`, { from })).is(202)
    const missed = await deliveryAbout(webhook, `${about}-missed`)
    await delivered(webhook, missed.id, 'SUCCESS')
    expect(await read(webhook.id)).toMatchObject({ active: true, disabledReason: null, owner: next.id })
  })
})
