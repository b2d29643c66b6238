import { OPERATIONS, SCOPES } from '@gantry/contracts'
import { beforeAll, expect, test } from 'vitest'
import type { Answer } from '../src/answer.ts'
import type { Client } from '../src/client.ts'
import { retrying } from '../src/deliveries.ts'
import {
  admin,
  apiFields,
  cancelled,
  cleanUp,
  createApi,
  createToken,
  createUser,
  createVersion,
  deploy,
  eventually,
  loggedIn,
  logIn,
  PASSWORD,
  platformEvent,
  unique,
  uuid,
  withToken,
} from '../src/gantry.ts'
import { form, png } from '../src/images.ts'
import type { AuditRecord, Page, Recovery, User } from '../src/records.ts'
import { changeWebhook, subscribe } from '../src/webhooks.ts'

/** Arguments of a request that succeeds: path, and body if the operation has one. */
type Prepared = [path: string, json?: unknown, body?: FormData]

const imageOf = async () => {
  const { id } = await createApi()
  ;(await admin.put(`/apis/${id}/image`, undefined, { body: form(png(1, 1)) })).is(200)
  return id
}
const versionPath = async () => {
  const api = await createApi()
  return `/apis/${api.id}/versions/${(await createVersion(api)).id}`
}
const hook = () => ({
  displayName: unique('hook'),
  url: 'https://example.com/',
  active: false,
  eventTypes: ['API_CREATED'],
})
const user = () => ({ username: unique('made'), displayName: 'Made', role: 'USER', password: PASSWORD })
const lockedUser = async () => {
  const { id, username } = await createUser()
  for (let n = 0; n < 5; n += 1) (await logIn(username, 'the wrong password')).refused(401)
  return id
}

/** A running recovery: it waits because its webhook was deactivated before the recovery completed. */
const runningRecovery = async () => {
  const { webhook } = await subscribe(['API_CREATED'])
  return eventually(async () => {
    await changeWebhook(webhook, { active: true })
    const asked = await admin.post(`/webhooks/${webhook.id}/recover`, { from: webhook.createdAt })
    await changeWebhook(webhook, { active: false })
    const path = `/webhooks/${webhook.id}/recoveries/${asked.as<Recovery>(202).id}`
    expect((await admin.get(path)).as<Recovery>(200).status).toBe('RUNNING')
    return path
  })
}

/** Prepares a successful request of every operation that changes something, by operation id. */
const NEEDS: Record<string, (by: Client) => Promise<Prepared>> = {
  createApi: async () => ['/apis', apiFields()],
  updateApi: async () => [`/apis/${(await createApi()).id}`, apiFields()],
  deleteApi: async () => [`/apis/${(await createApi()).id}`],
  deployApi: async () => [`/environments/${uuid()}/apis/${(await createApi()).id}`],
  undeployApi: async () => {
    const api = await createApi()
    return [`/environments/${(await deploy(api)).environment}/apis/${api.id}`]
  },
  uploadImage: async () => [`/apis/${(await createApi()).id}/image`, undefined, form(png(1, 1))],
  deleteImage: async () => [`/apis/${await imageOf()}/image`],
  createVersion: async () => [`/apis/${(await createApi()).id}/versions`, { name: '1.0' }],
  updateVersion: async () => [await versionPath(), { name: '1.1' }],
  deleteVersion: async () => [await versionPath()],
  createAccessToken: async () => ['/accessTokens', { name: 'one', scopes: ['API_READ'] }],
  deleteAccessToken: async by => [`/accessTokens/${(await createToken(by, ['API_READ'])).id}`],
  createUser: async () => ['/users', user()],
  updateUser: async () => [`/users/${(await createUser()).id}`, user()],
  deleteUser: async () => [`/users/${(await createUser()).id}`],
  unlockUser: async () => [`/users/${await lockedUser()}/unlock`],
  logout: async () => ['/logout'],
  createWebhook: async () => ['/webhooks', hook()],
  updateWebhook: async () => {
    const { webhook } = await subscribe(['API_CREATED'])
    return [`/webhooks/${webhook.id}`, { ...hook(), events: ['API_DELETED'] }]
  },
  deleteWebhook: async () => [`/webhooks/${(await subscribe(['API_CREATED'])).webhook.id}`],
  rotateWebhookSecret: async () => [
    `/webhooks/${(await subscribe(['API_CREATED'])).webhook.id}/rotateSecret`,
  ],
  testWebhook: async () => [`/webhooks/${(await subscribe(['API_CREATED'])).webhook.id}/test`],
  retryDelivery: async () => [`/webhooks/requests/${(await retrying('APPROVAL_REQUEST_DECIDED')).id}/retry`],
  cancelDelivery: async () => [
    `/webhooks/requests/${(await retrying('APPROVAL_REQUEST_DECIDED')).id}/cancel`,
  ],
  recoverWebhook: async () => {
    const { webhook } = await subscribe(['API_CREATED'])
    return [`/webhooks/${webhook.id}/recover`, { from: webhook.createdAt }]
  },
  cancelRecovery: async () => [`${await runningRecovery()}/cancel`],
  publishEvent: async () => ['/events', platformEvent('CONFIGURATION_CHANGED', { about: unique('event') })],
}

/** Makes a change by a request of the operation, which `send` sends. */
const change = async (id: string, by: Client, send: (request: Prepared) => Promise<Answer>) => {
  if (id === 'cancelDeployment') return (await cancelled(await createApi(), path => send([path]))).answer
  const prepare = NEEDS[id]
  if (!prepare) throw new Error(`NEEDS has no request for ${id}`)
  return send(await prepare(by))
}

const changing = OPERATIONS.filter(({ method, scope }) => method !== 'GET' && scope !== 'public')

const recordOf = (requestId: string, query: object) =>
  eventually(async () => {
    const { content } = (await admin.get('/auditLog', { size: 100, ...query })).as<Page<AuditRecord>>(200)
    const record = content.find(entry => entry.requestId === requestId)
    if (!record) throw new Error(`No record of request ${requestId}`)
    return record
  })

let actor: User
let client: Client
beforeAll(async () => {
  actor = await createUser({ role: 'GLOBAL_ADMIN' })
  client = withToken((await createToken(await loggedIn(actor), [...SCOPES])).token)
})

test.concurrent.for(changing)('the audit log records $id with its user', async ({ id, method }) => {
  const requestId = uuid()
  const send = ([path, json, body]: Prepared) =>
    client.request(method, path, json, { headers: { 'x-request-id': requestId }, ...(body && { body }) })
  const answer = await change(id, client, send)
  answer.is(200, 201, 202, 204)
  const made = answer.headers.get('location')
  // A recovery is removed with its webhook.
  if (made && id !== 'recoverWebhook') cleanUp(made)

  const record = await recordOf(requestId, { user: actor.id })
  expect(record.user).toEqual({ id: actor.id, username: actor.username })
  expect(record.action).toMatch(/^[A-Z_]+$/)
})

test('the audit log records logins, wrong passwords and the lock that follows them', async () => {
  const { id, username } = await createUser()
  ;(await logIn(username)).is(200)
  for (let n = 0; n < 5; n += 1) (await logIn(username, 'the wrong password')).refused(401)
  await eventually(async () => {
    const { content } = (await admin.get('/auditLog', { resource: id, size: 100 })).as<Page<AuditRecord>>(200)
    expect(content.map(({ action }) => action).toSorted()).toEqual([
      'USER_CREATED',
      'USER_LOCKED',
      'USER_LOGGED_IN',
      ...Array.from({ length: 5 }, () => 'USER_LOGIN_FAILED'),
    ])
    const lock = content.find(({ action }) => action === 'USER_LOCKED')
    expect(lock?.user).toEqual({ id: null, username: 'anonymous' })
    expect(lock?.details.after).toMatchObject({ username, lockedUntil: expect.any(String) })
  })
})
