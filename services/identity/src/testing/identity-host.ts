import type { Principal } from '@gantry/contracts'
import { ANONYMOUS } from '@gantry/service-runtime'
import { type Host, type HostDependencies, hostService } from '@gantry/service-runtime/testing'
import { expect, vi } from 'vitest'
import { type IdentityService, identityService, type ServiceSettings } from '../app.ts'
import { hash } from '../password/hashing-thread.ts'
import { argon2idPasswords } from '../password/password.ts'
import type { IdentityDependencies } from '../personal-data/personal-data.ts'

export const PASSWORD = 'correct horse battery staple'
export const START = '2026-11-21T10:00:00.000Z'

interface Answer {
  status: number
  headers: Record<string, unknown>
  // biome-ignore lint/suspicious/noExplicitAny: the type of the body depends on the operation
  body: any
}

interface Sent {
  body?: object
  headers?: Record<string, string>
}

export interface IdentityHost {
  readonly host: Host<IdentityService>
  /** Advances the clock, which otherwise stands still. */
  pass(ms: number): void
  now(): Date
  /** Makes requests with a credential, or as a principal. */
  as(caller: string | Principal): {
    get(url: string, headers?: Record<string, string>): Promise<Answer>
    post(url: string, sent?: Sent): Promise<Answer>
    put(url: string, sent?: Sent): Promise<Answer>
    delete(url: string, headers?: Record<string, string>): Promise<Answer>
  }
  logIn(username: string, password?: string): Promise<Answer>
  /** The login token of a user who may log in. */
  loginToken(username: string, password?: string): Promise<string>
  restart(): Promise<void>
  close(): Promise<void>
}

export const MINUTE = 60_000
const SETTINGS: ServiceSettings = {
  PLATFORM_JWT_USER_CLAIM: 'sub',
  AUDIT_PUSH_EVERY: 60 * MINUTE,
  USER_KEY_BACKUP_RETENTION: 30 * 24 * 60 * MINUTE,
}

export const CHEAP = { memory: 8, passes: 1, parallelism: 1 }
const cheapPasswords = argon2idPasswords(async hashing => hash(hashing), CHEAP)

/** Identity whose password hashes cost almost nothing. */
export const cheapIdentity = (
  dependencies: IdentityDependencies,
  settings: Partial<ServiceSettings> = {},
  passwords = cheapPasswords,
): IdentityService => identityService(dependencies, { ...SETTINGS, ...settings }, passwords)

/**
 * Identity on embedded stores, with the administrator `admin` and a clock that stands still.
 * @param adapt replaces dependencies, e.g. by ones that count calls
 */
export async function hostIdentity(
  settings: Partial<ServiceSettings> = {},
  adapt: (dependencies: HostDependencies) => IdentityDependencies = dependencies => dependencies,
  passwords = cheapPasswords,
): Promise<IdentityHost> {
  let time = Date.parse(START)
  const now = () => new Date(time)
  const host = await hostService(dependencies => cheapIdentity(adapt(dependencies), settings, passwords), {
    now,
  })
  const ready = () => vi.waitFor(() => expect(host.service.waitingFor()).toBeUndefined(), { interval: 5 })
  await ready()
  await host.service.ensureAdministrator({ username: 'admin', password: PASSWORD })

  const call = async (
    caller: string | Principal,
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    { body, headers = {} }: Sent = {},
  ): Promise<Answer> => {
    host.actAs(typeof caller === 'string' ? await host.service.authenticate(caller) : caller)
    const answer = await host.app.inject({ method, url, headers, ...(body && { payload: body }) })
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: answer.body ? answer.json() : undefined,
    }
  }
  const logIn = (username: string, password = PASSWORD) =>
    call(ANONYMOUS, 'POST', '/login', { body: { username, password } })

  return {
    host,
    pass(ms) {
      time += ms
    },
    now,
    as: caller => ({
      get: (url, headers) => call(caller, 'GET', url, { ...(headers && { headers }) }),
      post: (url, sent) => call(caller, 'POST', url, sent),
      put: (url, sent) => call(caller, 'PUT', url, sent),
      delete: (url, headers) => call(caller, 'DELETE', url, { ...(headers && { headers }) }),
    }),
    logIn,
    async loginToken(username, password) {
      const { status, headers } = await logIn(username, password)
      expect(status).toBe(200)
      return String(headers.authorization).replace(/^Bearer /, '')
    },
    async restart() {
      await host.restart()
      await ready()
    },
    close: () => host.close(),
  }
}
