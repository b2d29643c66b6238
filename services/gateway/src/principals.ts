import { isProblemCode, PROBLEMS, Principal, subjects } from '@gantry/contracts'
import { Refusal } from '@gantry/event-sourcing'
import { type Bus, type Json, RequestFailed } from '@gantry/messaging'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { Credential } from './credential.ts'

/** How long a principal is believed without asking again: the bound on revocation when a broadcast is lost. */
const BELIEVED_MS = 5_000
const REMEMBERED = 10_000
const TIMEOUT_MS = 4_000

/** A user, or one access token of his. */
const Changed = z.object({ userId: z.string(), tokenId: z.string().optional() })

interface Remembered {
  principal: Principal
  /** When identity is to be asked again, in milliseconds since 1970. */
  until: number
}

/** Who stands behind credentials: asked of identity, and remembered for seconds. */
export interface Principals {
  /** Without asking anybody; undefined when identity is to be asked. */
  remembered(credential: Credential): Principal | undefined
  /** Whether the credential was good when it was last looked at, and nothing changed that is known of. */
  trusted(credential: Credential): boolean
  /** Asks identity, once for all who ask at the same time. @throws Refusal, or what the bus throws */
  ask(credential: Credential): Promise<Principal>
  /** Forgets who has changed from now on, until the returned function is called. */
  listen(): () => void
}

export function principals({ bus, now }: { bus: Bus; now(): Date }): Principals {
  /** By digest, like what is being asked. */
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
    // What was asked before the change may be answered with what was before it, and nobody knows yet of whom: those
    // who asked get that answer, nobody else does.
    asking.clear()
  }

  /** Keys that became known to others may have signed anybody's login. */
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
