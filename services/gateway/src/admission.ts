import { login, type Principal, Refusal } from '@gantry/contracts'
import { type Admit, ANONYMOUS, noteCaller, requireScope } from '@gantry/service-kit'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { credentialOf, type Principals } from './principals.ts'
import type { RateLimits } from './rate-limits.ts'

/**
 * Admits requests: authenticates the caller, counts the request, then checks the scope. Requests of authenticated callers
 * count by user; anonymous requests and failed authentications count by address.
 */
export function admission(principals: Principals, limits: () => RateLimits): Admit {
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
      const limit = operation.id === login.id ? limits().login : limits().address
      if (limit) await limit(request, reply)
      return ANONYMOUS
    }
    const principal = cached(request) ?? (await authenticate(request, reply))
    noteCaller(request, principal)
    await limits().principal?.(request, reply)
    requireScope(principal, operation)
    return principal
  }

  return (request, reply, operation) => {
    const principal = operation.scope === 'public' || limits().principal ? undefined : cached(request)
    if (!principal) return admitUnknown(request, reply, operation)
    noteCaller(request, principal)
    requireScope(principal, operation)
    return principal
  }
}
