import { randomUUID } from 'node:crypto'
import { expect, inject, onTestFinished } from 'vitest'

/** Address of the service under test. */
export const url: string = inject('url')

/** Sends a request to the REST interface, by default of the administrator. @returns the JSON body of its success */
export async function request(
  method: string,
  path: string,
  body?: unknown,
  authorization: string = inject('authorization'),
) {
  const response = await as(authorization, method, path, body)
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** Sends a request with an Authorization header, or without one if it is empty. */
export function as(authorization: string, method: string, path: string, body?: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
  return fetch(`${url}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

/** A name that no other record has. */
export const unique = (name: string) => `${name}-${randomUUID().slice(0, 8)}`

/** Deletes a record after the test, unless the test has deleted it. */
export const removeAfterTest = (path: string) =>
  onTestFinished(async () => {
    await request('DELETE', path).catch(() => {})
  })

/** Creates an API with a name of its own. It is deleted after the test. */
export async function createApi(fields: Record<string, unknown> = {}) {
  const name = unique('api')
  const defaults = { name, displayName: `Page ${name}`, status: 'ACTIVE', tags: ['old'] }
  const api = await request('POST', '/apis', { ...defaults, ...fields })
  removeAfterTest(`/apis/${api.id}`)
  return api
}

/** Deploys an API and waits for the end of the job. */
export async function deploy(api: string, environment: string): Promise<void> {
  await request('PUT', `/environments/${environment}/apis/${api}`)
  const deployments = () => request('GET', `/apis/${api}?includeDeployedOn=true`)
  await expect.poll(async () => JSON.stringify(await deployments())).toContain(environment)
  await expect.poll(async () => (await deployments()).deploymentStatus).toBe('DEPLOYED')
}

/** Creates a webhook. It is deleted after the test, because it would get the events of all later ones. */
export async function createWebhook(fields: Record<string, unknown> = {}) {
  const webhook = await request('POST', '/webhooks', {
    displayName: unique('Hook'),
    url: 'http://127.0.0.1:9/hook',
    active: true,
    eventTypes: ['API_DEPLOYED', 'API_CREATED'],
    ...fields,
  })
  removeAfterTest(`/webhooks/${webhook.id}`)
  return webhook
}

/** A user that a test has created. */
export interface Account {
  id: string
  username: string
  password: string
}

/** Creates a user with a name of their own. */
export async function createUser(role = 'USER', fields: Record<string, unknown> = {}): Promise<Account> {
  const password = 'a long enough password'
  const { id, username } = await request('POST', '/users', {
    ...{ username: unique('user'), role, password },
    ...fields,
  })
  return { id, username, password }
}

/** The Authorization header of a new login. */
export async function logIn({ username, password }: Omit<Account, 'id'>): Promise<string> {
  const response = await as('', 'POST', '/login', { username, password })
  return response.headers.get('authorization') ?? ''
}

/** The Authorization header of a new access token, by default of the administrator. */
export async function tokenWith(scopes: readonly string[], owner?: string): Promise<string> {
  const { token } = await request('POST', '/accessTokens', { name: 'of a test', scopes }, owner)
  return `Bearer ${token}`
}
