import { EVENT_TYPES, type EventType, OPERATIONS, type Scope } from '@gantry/contracts'
import { describe, expect, test } from 'vitest'
import type { Client } from '../src/client.ts'
import { cancel, retrying } from '../src/deliveries.ts'
import { admin, cleanUp, eventually, unique } from '../src/gantry.ts'
import { happen } from '../src/platform-events.ts'
import { openInbox } from '../src/receiver.ts'
import type { Delivery, Page, Webhook } from '../src/records.ts'
import { createToken, userWithRole, withToken } from '../src/users.ts'
import { changeWebhook, delivered, deliveryAbout, NEVER, subscribe } from '../src/webhooks.ts'

/** A client with an access token of a user, which has only these scopes. */
const userWith = async (...scopes: Scope[]) =>
  withToken((await createToken(userWithRole('USER').client, scopes)).token)
/** An attacker that may manage webhooks, but not read the events that they deliver. */
const attacker = () => userWith('WEBHOOKS_READ', 'WEBHOOKS_WRITE')

const hook = (eventTypes: string[], url = 'https://example.com/hook') => ({
  displayName: unique('hook'),
  url,
  active: false,
  eventTypes,
})
const types = Object.keys(EVENT_TYPES) as EventType[]
const hidden = types.filter(type => EVENT_TYPES[type].scope !== 'WEBHOOKS_READ')

const byDeletion = (one: { method: string }, other: { method: string }) =>
  Number(one.method === 'DELETE') - Number(other.method === 'DELETE')

const hasNoHook = async (client: Client, displayName: string) => {
  const { content } = (await client.get('/webhooks', { size: 100, sort: 'createdAt,desc' })).as<
    Page<Webhook>
  >(200)
  expect(content.map(webhook => webhook.displayName)).not.toContain(displayName)
}

describe('a token that may only manage webhooks', () => {
  test('cannot create one of a type whose scope it lacks; the refusal names type and scope', async () => {
    const client = await attacker()
    for (const type of hidden) {
      const sent = hook(['TEST', type])
      const problem = (await client.post('/webhooks', sent)).refused(403, 'scope-missing')
      expect(problem.detail).toContain(type)
      expect(problem.detail).toContain(EVENT_TYPES[type].scope)
      expect(problem.detail).not.toContain('TEST')
      await hasNoHook(client, sent.displayName)
    }
    const seen = types.filter(type => !hidden.includes(type))
    const { id } = (await client.post('/webhooks', hook(seen))).as<Webhook>(201)
    cleanUp(`/webhooks/${id}`)
  })

  test('cannot add such a type, nor recover or change the URL of a webhook with one, even without the type', async () => {
    const client = await attacker()
    const mine = (await client.post('/webhooks', hook(['TEST']))).as<Webhook>(201)
    cleanUp(`/webhooks/${mine.id}`)
    const { displayName, url } = mine
    const change = { displayName, url, events: ['TEST', 'API_CREATED'] }
    const problem = (await client.put(`/webhooks/${mine.id}`, change)).refused(403, 'scope-missing')
    expect(problem.detail).toContain('API_CREATED')
    expect(problem.detail).toContain('API_READ')

    const { webhook } = await subscribe(['API_CREATED'])
    for (const events of [['API_CREATED'], ['TEST']]) {
      const moved = { displayName: webhook.displayName, url: 'https://example.com/elsewhere', events }
      ;(await client.put(`/webhooks/${webhook.id}`, moved)).refused(403, 'scope-missing')
    }
    expect((await admin.get(`/webhooks/${webhook.id}`)).as<Webhook>(200).url).toBe(webhook.url)
    const range = { from: new Date(Date.now() - 60_000).toISOString() }
    const path = `/webhooks/${webhook.id}/recover`
    const { detail } = (await client.post(path, range)).refused(403, 'scope-missing')
    expect(detail).toMatch(/API_CREATED.*API_READ|API_READ.*API_CREATED/)
    ;(await (await userWith('WEBHOOKS_READ', 'WEBHOOKS_WRITE', 'API_READ')).post(path, range)).is(202)
  })

  test('cannot change the URL while deliveries of an earlier type are pending', async () => {
    const client = await attacker()
    const { webhook, id } = await retrying('SUBSCRIPTION_CREATED')
    await changeWebhook(webhook, { active: false, events: [NEVER] })
    const inbox = openInbox()
    const change = { displayName: webhook.displayName, url: inbox.url, active: true, events: [NEVER] }
    const problem = (await client.put(`/webhooks/${webhook.id}`, change)).refused(403, 'scope-missing')
    expect(problem.detail).toContain('SUBSCRIPTION_CREATED')
    ;(await client.put(`/webhooks/${webhook.id}`, { ...change, url: webhook.url, active: false })).is(200)
    ;(await cancel(id)).is(200)
    ;(await client.put(`/webhooks/${webhook.id}`, change)).is(200)
  })

  test('cannot retry such deliveries, which it sees without payloads and responses that repeat them', async () => {
    const client = await attacker()
    const about = unique('event')
    const { webhook } = await subscribe(['SUBSCRIPTION_CREATED'], {
      about,
      respond: ({ body }) => ({ status: 302, headers: { location: `/${about}` }, body }),
    })
    await happen('SUBSCRIPTION_CREATED', about)
    const { id } = await deliveryAbout(webhook, about)
    const shown = await delivered(webhook, id, 'GIVE_UP')
    expect(JSON.stringify(shown.attemptLog)).toContain(about)
    expect(shown.failureMessage).toContain(about)

    const path = `/webhooks/${webhook.id}/requests`
    const one = (await client.get(`${path}/${id}`)).as<Delivery>(200)
    const { content } = (await client.get(path)).as<Page<Delivery>>(200)
    const all = (await client.get('/webhooks/requests', { size: 100 })).as<Page<Delivery>>(200)
    const found = all.content.find(record => record.id === id)
    const hiding = { responseBody: null, responseHeaders: null }
    const attemptLog = shown.attemptLog.map(attempt => ({ ...attempt, ...hiding }))
    for (const record of [one, content.find(each => each.id === id), found])
      expect(record).toEqual({ ...shown, payload: null, failureMessage: 'redirect', attemptLog })
    expect(JSON.stringify([one, content, found])).not.toContain(about)

    const problem = (await client.post(`/webhooks/requests/${id}/retry`)).refused(403, 'scope-missing')
    expect(problem.detail).toBe('needs the scope SUBSCRIPTIONS_READ for the event type SUBSCRIPTION_CREATED')
    const reader = await userWith('WEBHOOKS_READ', 'SUBSCRIPTIONS_READ')
    expect((await reader.get(`${path}/${id}`)).as<Delivery>(200)).toEqual(shown)
  })
})

describe('a webhook of a type whose scope a token lacks', () => {
  test('is changed by no operation, nor are its deliveries and recoveries', async () => {
    const client = await attacker()
    const { webhook, id } = await retrying('SUBSCRIPTION_CREATED')
    const { id: other } = (await subscribe(['SUBSCRIPTION_CREATED'])).webhook
    const range = { from: new Date(Date.now() - 60_000).toISOString() }
    const recovery = (await admin.post(`/webhooks/${other}/recover`, range)).as<{ id: string }>(202)
    const fields = { displayName: webhook.displayName, url: webhook.url, events: ['SUBSCRIPTION_CREATED'] }
    const bodies: Record<string, object> = {
      createWebhook: hook(['SUBSCRIPTION_CREATED']),
      updateWebhook: fields,
      recoverWebhook: range,
    }
    const operations = OPERATIONS.filter(({ scope }) => scope === 'WEBHOOKS_WRITE')
    const ask = (caller: Client, { id: name, method, path }: (typeof operations)[number]) => {
      const values = { webhook_id: name === 'cancelRecovery' ? other : webhook.id, request_id: id }
      const filled = Object.entries({ ...values, recovery_id: recovery.id })
      return caller.request(
        method,
        filled.reduce((text, [field, value]) => text.replace(`{${field}}`, value), path),
        bodies[name],
      )
    }
    const before = (await admin.get(`/webhooks/${webhook.id}`)).as<Webhook>(200)
    for (const operation of operations) {
      const { detail } = (await ask(client, operation)).refused(403, 'scope-missing')
      expect(detail).toMatch(/SUBSCRIPTIONS_READ.*SUBSCRIPTION_CREATED/)
    }
    expect((await admin.get(`/webhooks/${webhook.id}`)).as<Webhook>(200)).toEqual(before)

    const holder = await userWith('WEBHOOKS_READ', 'WEBHOOKS_WRITE', 'SUBSCRIPTIONS_READ')
    const answers: Record<string, number> = {}
    for (const operation of operations.toSorted(byDeletion))
      answers[operation.id] = (await ask(holder, operation)).status
    expect(Object.entries(answers).filter(([, status]) => status === 403)).toEqual([])
    expect(answers).toMatchObject({ rotateWebhookSecret: 200, testWebhook: 202, deleteWebhook: 204 })
  })

  test('is shown with its url before the query, as are its deliveries', async () => {
    const secret = unique('secret')
    const { url } = openInbox()
    const sent = hook(['SUBSCRIPTION_CREATED'], `${url}?key=${secret}`)
    const webhook = (await admin.post('/webhooks', sent)).as<Webhook>(201)
    cleanUp(`/webhooks/${webhook.id}`)
    const tested = (await admin.post(`/webhooks/${webhook.id}/test`)).as<Delivery>(202)
    await eventually(async () =>
      expect((await admin.get(`/webhooks/${webhook.id}/requests/${tested.id}`)).text).toContain('durationMs'),
    )
    const at = new Date().toISOString()
    const records = [
      [`/webhooks/${webhook.id}`, {}],
      [`/webhooks/${webhook.id}`, { at }],
      ['/webhooks', { size: 100, sort: 'createdAt,desc' }],
      ['/webhooks', { size: 100, sort: 'createdAt,desc', at }],
      [`/webhooks/${webhook.id}/requests/${tested.id}`, {}],
      [`/webhooks/${webhook.id}/requests`, {}],
      ['/webhooks/requests', { size: 100 }],
    ] as const
    const readers = [await attacker(), await userWith('WEBHOOKS_READ', 'SUBSCRIPTIONS_READ')] as const
    for (const [path, query] of records) {
      const [cut, whole] = await Promise.all(readers.map(reader => reader.get(path, query)))
      expect(cut?.is(200).text).not.toContain(secret)
      expect(cut?.text).toContain(JSON.stringify(url))
      expect(whole?.is(200).text).toContain(`${url}?key=${secret}`)
    }
    // Their readers need no scope of the types that the webhook is registered for.
    for (const [path, query] of [
      [`/webhooks/${webhook.id}/history`, {}],
      ['/auditLog', { resource: webhook.id }],
      ['/events', { webhook: webhook.id }],
    ] as const) {
      const { text } = await eventually(async () => {
        const answer = (await admin.get(path, query)).is(200)
        expect(answer.text).toContain(JSON.stringify(url))
        return answer
      })
      expect(text).not.toContain(secret)
    }
  })
})

test('the payload of a webhook test is shown only to callers with WEBHOOKS_READ', async () => {
  const { webhook } = await subscribe(['API_CREATED'])
  const answer = async (client: Client) =>
    (await client.post(`/webhooks/${webhook.id}/test`)).as<Delivery>(202).payload
  expect(await answer(await userWith('WEBHOOKS_WRITE', 'API_READ'))).toBeNull()
  expect(await answer(await userWith('WEBHOOKS_WRITE', 'WEBHOOKS_READ', 'API_READ'))).toMatchObject({
    type: 'TEST',
  })
})
