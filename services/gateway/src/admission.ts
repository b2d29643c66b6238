import { hash } from 'node:crypto'
import type { Socket } from 'node:net'
import {
  changePassword,
  exportAuditLog,
  login,
  type Operation,
  PROBLEMS,
  type Principal,
  Refusal,
  requests,
  subjects,
} from '@gantry/contracts'
import { atMost } from '@gantry/event-sourcing'
import type { Bus, Json } from '@gantry/messaging'
import { type Admit, ANONYMOUS, CRAWLER, noteCaller, type Peers, requireScope } from '@gantry/service-runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { RateLimits } from './rates/rate-limits.ts'

interface Credential {
  /** The value of the header. */
  authorization: string
  token: string
  /** SHA-256 of the token: caches contain no tokens. */
  digest: string
  /** Network address of the caller. */
  address: string
  /** Of both: the principal contains the address. */
  key: string
}

/** RFC 6750 §2.1; the case of the scheme is ignored (RFC 9110 §11.1). */
const BEARER = /^bearer +([\w.~+/-]+=*) *$/i

/** The last credential of each connection: clients that keep a connection open repeat it in every request. */
const latest = new WeakMap<Socket, Credential>()

/**
 * The credential in the Authorization header of a request.
 * @throws Refusal unauthenticated when the header is missing or malformed
 */
function credentialOf({ headers: { authorization }, socket, ip: address }: FastifyRequest): Credential {
  const before = latest.get(socket)
  if (before !== undefined && before.authorization === authorization && before.address === address)
    return before
  if (authorization === undefined) {
    throw new Refusal('unauthenticated', {
      detail:
        'The header Authorization is missing: send Bearer and a token from POST /login or POST /accessTokens',
    })
  }
  const token = BEARER.exec(authorization)?.[1]
  if (token === undefined) {
    throw new Refusal('unauthenticated', { detail: 'The header Authorization must be Bearer and one token' })
  }
  const digest = hash('sha256', token, 'base64')
  const credential = { authorization, token, digest, address, key: `${digest} ${address}` }
  latest.set(socket, credential)
  return credential
}

/** How long a cached principal is used without asking identity: the limit of revocation when a broadcast is lost. */
const CACHE_MS = 5_000
/** Two entries for each credential. */
const CACHE_SIZE = 20_000
const EXPORT_CHECKED_MS = 1_000

/** The broadcast that a user, or one of their access tokens, has changed. */
const Changed = z.object({ userId: z.string(), tokenId: z.string().optional() })

interface CachedPrincipal {
  principal: Principal
  /** Time from which identity is asked again, in milliseconds since 1970. */
  until: number
}

/** The principals of credentials, as identity knows them, cached for seconds. */
export interface Principals {
  /** The cached principal; undefined when identity has to be asked. */
  cached(credential: Credential): Principal | undefined
  /** Whether the credential was valid when it was last verified, has not expired and is not known to have changed. */
  trusted(credential: Credential): boolean
  /** Asks identity; simultaneous calls for a credential share one request. @throws Refusal, Unanswered */
  ask(credential: Credential): Promise<Principal>
  /** Starts to forget principals when a broadcast says that they changed. @returns function that stops it */
  listen(): () => void
}

export function principals({
  bus,
  peers,
  now,
}: {
  bus: Bus
  peers: Pick<Peers, 'ask'>
  now(): Date
}): Principals {
  /** By key of the credential, as is `asking`; the latest one also by digest alone. */
  const known = new LRUCache<string, CachedPrincipal>(atMost(CACHE_SIZE))
  const asking = new Map<string, Promise<Principal>>()

  const lookUp = async (credential: Credential) => {
    const principal = await principalOf(peers, credential)
    if (principal.expiresAt <= now().getTime()) throw refused('The token has expired')
    return principal
  }

  const forget = (broadcast: Json) => {
    const { userId, tokenId } = Changed.parse(broadcast)
    for (const [key, { principal }] of [...known]) {
      if (principal.userId === userId && (!tokenId || principal.tokenId === tokenId)) known.delete(key)
    }
    // A pending request may be answered with the state before the change, and its user is not known yet: its callers get
    // that response, later callers ask again.
    asking.clear()
  }

  /** A leaked signing key may have signed a login of any user. */
  const forgetAll = () => {
    known.clear()
    asking.clear()
  }

  return {
    cached({ key }) {
      const entry = known.get(key)
      return entry !== undefined && now().getTime() < entry.until ? entry.principal : undefined
    },
    trusted({ digest }) {
      const entry = known.peek(digest)
      return entry !== undefined && now().getTime() < entry.principal.expiresAt
    },
    async ask(credential) {
      const { key, digest } = credential
      const joined = asking.get(key)
      if (joined) return joined
      const askedAt = now().getTime()
      const asked = lookUp(credential)
      asking.set(key, asked)
      try {
        const principal = await asked
        if (asking.get(key) === asked) {
          const entry = { principal, until: Math.min(askedAt + CACHE_MS, principal.expiresAt) }
          for (const each of [key, digest]) known.set(each, entry)
        }
        return principal
      } catch (error) {
        if (isRefused(error)) for (const each of [key, digest]) known.delete(each)
        throw error
      } finally {
        if (asking.get(key) === asked) asking.delete(key)
      }
    },
    listen() {
      const stops = [
        bus.listen(subjects.principalChanged, forget),
        bus.listen(subjects.keysChanged, forgetAll),
      ]
      return () => {
        for (const stop of stops) stop()
      }
    },
  }
}

const refused = (detail: string) =>
  new Refusal('unauthenticated', {
    detail,
    // RFC 6750 §3.1
    headers: { 'www-authenticate': 'Bearer realm="gantry", error="invalid_token"' },
  })

async function principalOf(peers: Pick<Peers, 'ask'>, { token, address }: Credential): Promise<Principal> {
  try {
    return await peers.ask(requests.authenticate, { credential: token, address })
  } catch (error) {
    if (!(error instanceof Refusal) || PROBLEMS[error.code].status !== 401) throw error
    const { detail } = error.details
    throw refused(typeof detail === 'string' ? detail : 'The token is not valid')
  }
}

/**
 * Admits requests: authenticates the caller, counts the request, then checks the scope. Requests of authenticated callers
 * count by user; anonymous requests and failed authentications count by address. Breaks the connection of an export of the
 * audit log once its caller is refused.
 * @param publicCatalog whether operations that are `crawled` need no credentials
 * @param starting what the start of the process waits for; until the start has ended, no request is admitted
 */
export function admission(
  principals: Principals,
  limits: () => RateLimits,
  starting: () => string | undefined = () => undefined,
  publicCatalog = false,
): Admit {
  const recheck = recheckOf(principals)
  /** The cached principal of a credential that was verified within the last seconds: the path of nearly every request. */
  const cached = (request: FastifyRequest): Principal | undefined => {
    try {
      return principals.cached(credentialOf(request))
    } catch {
      // `authenticate` parses the header again, refuses the request and counts it.
      return undefined
    }
  }

  const authenticate = async (request: FastifyRequest, reply: FastifyReply): Promise<Principal> => {
    const { address } = limits()
    try {
      const credential = credentialOf(request)
      // Verified credentials are not limited by the failures of other clients at the same address.
      if (address && !principals.trusted(credential)) await address(request, reply, { count: false })
      return await principals.ask(credential)
    } catch (error) {
      if (address && error instanceof Refusal && error.code !== 'too-many-requests')
        await address(request, reply)
      throw error
    }
  }

  const admitUnknown: Admit = async (request, reply, operation) => {
    if (operation.scope === 'public') {
      const limit = checksPassword(operation) ? limits().login : limits().address
      if (limit) await limit(request, reply)
      return ANONYMOUS
    }
    if (publicCatalog && operation.crawled && request.headers.authorization === undefined) {
      await limits().address?.(request, reply)
      return CRAWLER
    }
    const principal = cached(request) ?? (await authenticate(request, reply))
    noteCaller(request, principal)
    await limits().principal?.(request, reply)
    if (checksPassword(operation)) await limits().login?.(request, reply)
    requireScope(principal, operation)
    return principal
  }

  return (request, reply, operation) => {
    const waiting = starting()
    if (waiting !== undefined) throw new Refusal('not-ready', { detail: `waits for ${waiting}` })
    if (operation.id === exportAuditLog.id)
      recheckRegularly(reply, {
        everyMs: EXPORT_CHECKED_MS,
        recheck: () => recheck(request, operation),
        refused() {
          // Before the response begins, the check is repeated: a connection without a response is retried by proxies.
          if (reply.raw.headersSent) reply.raw.destroy()
        },
      })
    const isLimited = limits().principal !== undefined || checksPassword(operation)
    const principal = operation.scope === 'public' || isLimited ? undefined : cached(request)
    if (!principal) return admitUnknown(request, reply, operation)
    noteCaller(request, principal)
    requireScope(principal, operation)
    return principal
  }
}

const checksPassword = ({ id }: Operation) => id === login.id || id === changePassword.id

/** Determines the principal of an admitted request again. @throws Refusal when the operation is no longer allowed */
export type Recheck = (request: FastifyRequest, operation: Operation) => Promise<Principal>

export const recheckOf =
  (principals: Principals): Recheck =>
  async (request, operation) => {
    const credential = credentialOf(request)
    const principal = principals.cached(credential) ?? (await principals.ask(credential))
    requireScope(principal, operation)
    return principal
  }

interface Rechecking {
  everyMs: number
  recheck(): Promise<Principal>
  /** Called after each check that admits the caller. */
  admitted?(principal: Principal): void
  /** Called after each check that refuses the caller. */
  refused(): void
}

/** Checks the caller of a long response again and again, until its connection closes. A failed check changes nothing. */
export function recheckRegularly(
  reply: FastifyReply,
  { everyMs, recheck, admitted, refused }: Rechecking,
): void {
  const timer = setInterval(() => {
    recheck().then(admitted, error => {
      if (isRefused(error)) refused()
    })
  }, everyMs)
  reply.raw.once('close', () => clearInterval(timer))
  if (reply.raw.destroyed) clearInterval(timer)
}

/** False when identity is unavailable. */
const isRefused = (error: unknown) => error instanceof Refusal && PROBLEMS[error.code].status < 500
