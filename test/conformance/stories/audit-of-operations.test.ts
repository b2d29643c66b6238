import { isIP } from 'node:net'
import { OPERATIONS, type Operation, SCOPES } from '@gantry/contracts'
import { beforeAll, expect, test } from 'vitest'
import type { Answer } from '../src/answer.ts'
import { apiFields, cancelled, createApi, createVersion, deploy } from '../src/apis.ts'
import type { Body, Client } from '../src/client.ts'
import { retrying } from '../src/deliveries.ts'
import { admin, cleanUp, eventually, unique, uuid } from '../src/gantry.ts'
import { form, png } from '../src/images.ts'
import { platformEvent } from '../src/platform-events.ts'
import type { AuditRecord, Job, Page, Recovery, User } from '../src/records.ts'
import { createToken, createUser, loggedIn, logIn, PASSWORD, withToken } from '../src/users.ts'
import { changeWebhook, subscribe } from '../src/webhooks.ts'

/** Arguments of a request that succeeds: path, and body if the operation has one. */
type Prepared = [path: string, json?: unknown, body?: Body]

const imageOf = async () => {
  const { id } = await createApi()
  ;(await admin.put(`/apis/${id}/image`, undefined, { body: form(png(1, 1)) })).is(200)
  return id
}
const documentPath = async () => {
  const api = await createApi()
  return `/apis/${api.id}/versions/${(await createVersion(api)).id}/documents/readme.md`
}
const hook = () => ({
  displayName: unique('hook'),
  url: 'https://example.com/',
  active: false,
  eventTypes: ['API_CREATED'],
})
const hookPath = async () => `/webhooks/${(await subscribe(['API_CREATED'])).webhook.id}`
const pendingPath = async () => `/webhooks/requests/${(await retrying('APPROVAL_REQUEST_DECIDED')).id}`
const lockedUser = async () => {
  const { id, username } = await createUser()
  for (let n = 0; n < 5; n += 1) (await logIn(username, 'the wrong password')).refused(401)
  return id
}

/** The path of the tokens of a user who has one. */
const userTokens = async () => {
  const user = await createUser()
  const { id } = await createToken(await loggedIn(user), ['API_READ'])
  return { path: `/users/${user.id}/accessTokens`, id }
}

/** A recovery that waits because its webhook was deactivated, unless it completed before that. */
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

/** The example of the body, with names of its own. */
const bodyOf = ({ bodyExample }: Operation) =>
  bodyExample &&
  Object.fromEntries(
    Object.entries(bodyExample).map(([key, value]) => [
      key,
      key === 'name' || key === 'username' ? unique('made') : value,
    ]),
  )

/** Creates the resources that a path names, e.g. for /apis/{api_id}/versions/{version_id} an API with a version. */
async function pathOf(path: string, by: Client): Promise<string> {
  const [, collection, rest] = /^(.*)\/\{\w+\}(.*)$/.exec(path) ?? []
  if (collection === undefined) return path
  const creation = OPERATIONS.find(({ method, path }) => method === 'POST' && path === collection)
  if (!creation) throw new Error(`NEEDS has no request for ${path}, and no operation creates it`)
  const made = (await by.post(await pathOf(collection, by), bodyOf(creation))).is(201).headers.get('location')
  cleanUp(made ?? '')
  return `${made}${rest}`
}

/**
 * Prepares a successful request of an operation that changes something, by operation id. Operations that create, change
 * or delete a resource with the body of their example need no entry.
 */
const NEEDS: Record<string, (by: Client) => Promise<Prepared>> = {
  restoreApi: async () => {
    const api = await createApi()
    ;(await admin.put(`/apis/${api.id}`, apiFields())).is(200)
    return [`/apis/${api.id}/restore`, { at: api.createdAt }]
  },
  deployApi: async () => [`/environments/${uuid()}/apis/${(await createApi()).id}`],
  updateEnvironment: async () => [`/environments/${uuid()}`, { name: unique('environment') }],
  undeployApi: async () => {
    const api = await createApi()
    return [`/environments/${(await deploy(api)).environment}/apis/${api.id}`]
  },
  uploadImage: async () => [`/apis/${(await createApi()).id}/image`, undefined, form(png(1, 1))],
  deleteImage: async () => [`/apis/${await imageOf()}/image`],
  putDocument: async () => [await documentPath(), undefined, '# Read me'],
  deleteDocument: async () => {
    const path = await documentPath()
    ;(await admin.put(path, undefined, { body: '# Read me' })).is(201)
    return [path]
  },
  importApi: async () => [
    '/apis/import',
    undefined,
    JSON.stringify({ openapi: '3.1.0', info: { title: unique('imported'), version: '1' }, paths: {} }),
  ],
  changeApis: async () => ['/apis/bulk', { ids: [(await createApi()).id], change: { status: 'INACTIVE' } }],
  cancelJob: async by => {
    const ids = Array.from({ length: 2_000 }, uuid)
    const { id } = (await by.post('/apis/bulk', { ids, change: { status: 'INACTIVE' } })).as<Job>(202)
    return [`/jobs/${id}/cancel`]
  },
  changePassword: async () => ['/session/password', { password: PASSWORD, newPassword: PASSWORD }],
  deleteUserAccessToken: async () => {
    const { path, id } = await userTokens()
    return [`${path}/${id}`]
  },
  deleteUserAccessTokens: async () => [(await userTokens()).path],
  unlockUser: async () => [`/users/${await lockedUser()}/unlock`],
  createWebhook: async () => ['/webhooks', hook()],
  updateWebhook: async () => [await hookPath(), { ...hook(), events: ['API_DELETED'] }],
  deleteWebhook: async () => [await hookPath()],
  rotateWebhookSecret: async () => [`${await hookPath()}/rotateSecret`],
  testWebhook: async () => [`${await hookPath()}/test`],
  retryDelivery: async () => [`${await pendingPath()}/retry`],
  cancelDelivery: async () => [`${await pendingPath()}/cancel`],
  recoverWebhook: async () => {
    const { webhook } = await subscribe(['API_CREATED'])
    return [`/webhooks/${webhook.id}/recover`, { from: webhook.createdAt }]
  },
  cancelRecovery: async () => [`${await runningRecovery()}/cancel`],
  rebuildReadModel: async () => ['/readModels/media.projector/rebuild'],
  cancelRebuild: async () => {
    ;(await admin.post('/readModels/notifier.projector/rebuild')).is(202)
    return ['/readModels/notifier.projector/cancel']
  },
  publishEvent: async () => ['/events', platformEvent('CONFIGURATION_CHANGED', { about: unique('event') })],
}

/** Makes a change by a request of the operation, which `send` sends. */
const change = async (operation: Operation, by: Client, send: (request: Prepared) => Promise<Answer>) => {
  const { id, path } = operation
  if (id === 'cancelDeployment') return (await cancelled(await createApi(), path => send([path]))).answer
  const prepare = NEEDS[id] ?? (async () => [await pathOf(path, by), bodyOf(operation)] as Prepared)
  for (let tries = 1; ; tries += 1) {
    const answer = await send(await prepare(by))
    // A job, recovery or rebuild may end before it is cancelled.
    if (answer.status !== 409 || !id.startsWith('cancel') || tries === 20) return answer
  }
}

const changing = OPERATIONS.filter(
  ({ method, scope, id }) => method !== 'GET' && scope !== 'public' && id !== 'previewRuleSet',
)

const recordOf = (requestId: string, query: object) =>
  eventually(async () => {
    const { content } = (await admin.get('/auditLog', { size: 100, ...query })).as<Page<AuditRecord>>(200)
    const record = content.find(entry => entry.requestId === requestId)
    if (!record) throw new Error(`No record of request ${requestId}`)
    return record
  })

// Not a shared user: the operations include POST /logout.
let actor: User
let client: Client
beforeAll(async () => {
  actor = await createUser({ role: 'GLOBAL_ADMIN' })
  client = withToken((await createToken(await loggedIn(actor), [...SCOPES])).token)
})

test.concurrent.for(changing)('the audit log records $id with its user', async operation => {
  const { id, method } = operation
  const requestId = uuid()
  const send = ([path, json, body]: Prepared) =>
    client.request(method, path, json, { headers: { 'x-request-id': requestId }, ...(body && { body }) })
  const answer = await change(operation, client, send)
  answer.is(200, 201, 202, 204)
  const made = answer.headers.get('location')
  // A recovery is removed with its webhook, and a job stays.
  if (made && id !== 'recoverWebhook' && id !== 'changeApis') cleanUp(made)

  const record = await recordOf(requestId, { user: actor.id })
  expect(record.user).toEqual({ id: actor.id, username: actor.username })
  expect(record.action).toMatch(/^[A-Z_]+$/)
  expect(isIP(record.address ?? '')).not.toBe(0)
})
