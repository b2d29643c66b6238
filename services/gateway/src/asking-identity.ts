import { Problem } from '@gantry/contracts'
import { Refusal } from '@gantry/event-sourcing'
import { RequestFailed } from '@gantry/messaging'
import { PRINCIPAL_HEADER } from '@gantry/service-kit'
import type { Authenticate } from './principals.ts'
import type { Replicas } from './replicas.ts'

const PATIENCE_MS = 2_000

/** Asks a replica of identity itself, and another when that does not answer: the bus may be away. */
export function askingIdentity(options: {
  identity: Replicas
  basePath: string
  /** What the gateway shows to be let in. */
  pass(): string
}): Authenticate {
  const { identity, basePath, pass } = options

  const ask = async (replica: string, credential: string): Promise<unknown> => {
    const response = await fetch(`${replica}${basePath}/inside/authenticate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [PRINCIPAL_HEADER]: pass() },
      body: JSON.stringify({ credential }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
    const answer: unknown = await response.json()
    if (response.ok) return answer
    const { code, title, detail } = Problem.parse(answer)
    throw new RequestFailed(code, title, { detail })
  }

  return async credential => {
    const first = identity.next()
    try {
      return await ask(first, credential)
    } catch (error) {
      if (error instanceof RequestFailed) throw error
      identity.leaveOut(first)
    }
    try {
      return await ask(identity.next(first), credential)
    } catch (error) {
      throw error instanceof RequestFailed ? error : new Refusal('unavailable')
    }
  }
}
