import { randomUUID } from 'node:crypto'
import { request, url } from './browser.ts'

/** A user that a test has created, with an Authorization header of their own. */
export interface Account {
  id: string
  username: string
  password: string
  authorization: string
}

/** Creates a user, who can sign in, and logs them in once. */
export async function createAccount(role: string): Promise<Account> {
  const username = `user-${randomUUID().slice(0, 8)}`
  const password = `a password ${randomUUID()}`
  const { id } = await request('POST', '/users', { username, password, role })
  return { id, username, password, authorization: await logIn(username, password) }
}

/** The Authorization header of a new login. */
async function logIn(username: string, password: string): Promise<string> {
  const response = await as('', 'POST', '/login', { username, password })
  return response.headers.get('authorization') ?? ''
}

/** Sends a request to the REST interface with an Authorization header. */
export function as(authorization: string, method: string, path: string, body?: unknown): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) }
  return fetch(`${url}${path}`, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

/** Creates an access token of a user. */
export async function createAccessToken({ authorization }: Account, ...scopes: string[]) {
  const response = await as(authorization, 'POST', '/accessTokens', { name: 'of a test', scopes })
  return (await response.json()) as { id: string; token: string }
}
