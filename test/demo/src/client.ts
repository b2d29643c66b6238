import { setTimeout } from 'node:timers/promises'

/** The service responded with an error status. */
export class Answered extends Error {
  readonly status: number
  readonly code: string | undefined
  constructor(status: number, problem: { code?: string; detail?: string }) {
    super(`${status} ${problem.code ?? ''} ${problem.detail ?? ''}`.trim())
    this.status = status
    this.code = problem.code
  }
}

interface Answer<Body> {
  status: number
  body: Body
}

export interface Client {
  /** @throws Answered when the status is not 2xx, except 404 if `absent` is set */
  call<Body>(
    method: string,
    path: string,
    body?: unknown,
    options?: { absent?: boolean },
  ): Promise<Answer<Body>>
}

const TRIES = 8

/** Errors of a connection that the service or the network closed. */
const BROKEN = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']

/**
 * A client of a service. Bodies are JSON, except forms and bytes. After 429 and 503 it retries the request, up to eight tries,
 * with the pause of Retry-After. It also retries after a broken connection, except POST, which could create twice.
 */
export function client(baseUrl: string, authorization: string): Client {
  return {
    async call(method, path, body, options = {}) {
      for (let attempt = 1; ; attempt++) {
        const raw = body instanceof FormData || body instanceof Uint8Array
        const response = await fetch(`${baseUrl}${path}`, {
          method,
          headers: {
            authorization,
            ...(body !== undefined && !raw && { 'content-type': 'application/json' }),
          },
          ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
        }).catch(error => {
          if (method === 'POST' || attempt === TRIES || !BROKEN.includes(error.cause?.code)) throw error
          return undefined
        })
        if (!response) {
          await setTimeout(1000)
          continue
        }
        const text = await response.text()
        const parsed = text === '' ? undefined : JSON.parse(text)
        if (response.ok || (response.status === 404 && options.absent))
          return { status: response.status, body: parsed }
        if ((response.status === 429 || response.status === 503) && attempt < TRIES) {
          await setTimeout(1000 * Number(response.headers.get('retry-after') ?? 1))
          continue
        }
        throw new Answered(response.status, parsed ?? {})
      }
    },
  }
}

/** @returns the value of the Authorization header @throws Answered */
export async function logIn(baseUrl: string, username: string, password: string): Promise<string> {
  const response = await fetch(`${baseUrl}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username, password }),
  })
  const authorization = response.headers.get('authorization')
  if (!response.ok || !authorization) throw new Answered(response.status, (await response.json()) as object)
  return authorization
}
