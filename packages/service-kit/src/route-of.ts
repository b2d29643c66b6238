import { bodyLimitOf, type Operation, type Principal } from '@gantry/contracts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { noteCaller } from './caller.ts'
import type { Admit } from './service.ts'

/**
 * The options of the route of an operation apart from its handler. Its hook admits the caller, synchronously if `admit`
 * does: most callers are known.
 * @param admitted called with the caller before the body is read
 */
export const routeOf = (
  operation: Operation,
  admit: Admit,
  admitted: (request: FastifyRequest, principal: Principal) => void = () => {},
) => ({
  method: operation.method,
  url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
  bodyLimit: bodyLimitOf(operation),
  onRequest(request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) {
    const proceed = (principal: Principal) => {
      noteCaller(request, principal)
      admitted(request, principal)
    }
    try {
      const caller = admit(request, reply, operation)
      if (caller instanceof Promise) {
        caller.then(proceed).then(() => done(), done)
        return
      }
      proceed(caller)
    } catch (error) {
      done(error as Error)
      return
    }
    done()
  },
})
