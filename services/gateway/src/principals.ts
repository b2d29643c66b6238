import { isProblemCode, PROBLEMS, Principal, Refusal, subjects } from '@gantry/contracts'
import { type Bus, type Json, RequestFailed } from '@gantry/messaging'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Credential } from './credential.ts'

/** How long a cached principal is used without asking identity: the limit of revocation when a broadcast is lost. */
const BELIEVED_MS = 5_000
const REMEMBERED = 10_000
const TIMEOUT_MS = 4_000

/** The broadcast that a user, or one of their access tokens, has changed. */
const Changed = z.object({ userId: z.string(), tokenId: z.string().optional() })

interface Remembered {
  principal: Principal
  /** Time from which identity is asked again, in milliseconds since 1970. */
  until: number
}

/** The principals of credentials, as identity knows them, cached for seconds. */
export interface Principals {
  /** The cached principal; undefined when identity has to be asked. */
  remembered(credential: Credential): Principal | undefined
  /** Whether the credential was valid when it was last verified, has not expired and is not known to have changed. */
  trusted(credential: Credential): boolean
  /** Asks identity; simultaneous calls for a credential share one request. @throws Refusal, or what the bus throws */
  ask(credential: Credential): Promise<Principal>
  /** Starts to forget principals when a broadcast says that they changed. @returns function that stops it */
  listen(): () => void
}

export function principals({ bus, now }: { bus: Bus; now(): Date }): Principals {
  /** By digest of the credential, as is `asking`. */
  const known = new LRUCache<string, Remembered>({ max: REMEMBERED })
  const asking = new Map<string, Promise<Principal>>()

  const lookUp = async (token: string) => {
    const principal = await principalOf(bus, token)
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
    remembered({ digest }) {
      const entry = known.get(digest)
      return entry !== undefined && now().getTime() < entry.until ? entry.principal : undefined
    },
    trusted({ digest }) {
      const entry = known.peek(digest)
      return entry !== undefined && now().getTime() < entry.principal.expiresAt
    },
    async ask({ digest, token }) {
      const joined = asking.get(digest)
      if (joined) return joined
      const askedAt = now().getTime()
      const asked = lookUp(token)
      asking.set(digest, asked)
      try {
        const principal = await asked
        if (asking.get(digest) === asked) {
          known.set(digest, { principal, until: Math.min(askedAt + BELIEVED_MS, principal.expiresAt) })
        }
        return principal
      } catch (error) {
        if (error instanceof Refusal) known.delete(digest)
        throw error
      } finally {
        if (asking.get(digest) === asked) asking.delete(digest)
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

async function principalOf(bus: Bus, credential: string): Promise<Principal> {
  try {
    return Principal.parse(
      await bus.request(subjects.authenticate, { credential }, { timeoutMs: TIMEOUT_MS }),
    )
  } catch (error) {
    if (!(error instanceof RequestFailed) || !isProblemCode(error.code)) throw error
    const { status } = PROBLEMS[error.code]
    if (status >= 500) throw error
    if (status === 401) {
      throw refused(
        typeof error.details.detail === 'string' ? error.details.detail : 'The token is not valid',
      )
    }
    throw new Refusal(error.code, error.details)
  }
}
