import type { FastifyInstance, FastifyRequest } from 'fastify'
import { enterContext, TraceContext } from './trace-context.ts'

/** Property of a request with its context. */
const CONTEXT = Symbol('context')
type InContext = FastifyRequest & { [CONTEXT]: TraceContext | null }

/** Handles the requests of an app each in its context. To be called before hooks are added that need the context. */
export function keepContexts(app: FastifyInstance): void {
  app.decorateRequest(CONTEXT, null)
  app.addHook('onRequest', (request, _reply, done) => {
    const context = new TraceContext(request.id, request.headers.traceparent)
    ;(request as InContext)[CONTEXT] = context
    enterContext(context, done)
  })
}

/** The context of a request, for code that runs outside it, such as events of its connection. */
export const contextOfRequest = (request: FastifyRequest): TraceContext | null =>
  (request as InContext)[CONTEXT]
