import { login, type Principal } from '@gantry/contracts'
import { Refusal } from '@gantry/event-sourcing'
import { type Admit, ANONYMOUS, noteCaller, requireScope } from '@gantry/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { credentialOf } from './credential.ts'
import type { Principals } from './principals.ts'
import type { RateLimits } from './rate-limits.ts'

/**
 * Who may do what: authenticates, counts, then checks the scope. Callers count by who they are, all others by where
 * they come from; failing to authenticate counts there too.
 */
export function admission(principals: Principals, limits: () => RateLimits): Admit {
  /** Somebody whose credential was found good a moment ago: the way that nearly every request takes. */
  const remembered = (request: FastifyRequest): Principal | undefined => {
    try {
      return principals.remembered(credentialOf(request))
    } catch {
      // Whatever is wrong with the header is told by those who count it.
      return undefined
    }
  }

  const authenticate = async (request: FastifyRequest, reply: FastifyReply): Promise<Principal> => {
    const { address } = limits()
    try {
      const credential = credentialOf(request)
      // Neighbours on the same address are not kept out by what one of them does wrong.
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
      const limit = operation.id === login.id ? limits().login : limits().address
      if (limit) await limit(request, reply)
      return ANONYMOUS
    }
    const principal = remembered(request) ?? (await authenticate(request, reply))
    noteCaller(request, principal)
    await limits().principal?.(request, reply)
    requireScope(principal, operation)
    return principal
  }

  return (request, reply, operation) => {
    const principal = operation.scope === 'public' || limits().principal ? undefined : remembered(request)
    if (!principal) return admitUnknown(request, reply, operation)
    noteCaller(request, principal)
    requireScope(principal, operation)
    return principal
  }
}
