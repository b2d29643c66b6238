import { Refusal, serviceOf } from '@gantry/contracts'
import {
  type Bus,
  isReply,
  NoResponder,
  type Reply,
  type Responder,
  replyOf,
  resultOf,
} from '@gantry/messaging'
import { type PassedPrincipals, PRINCIPAL_HEADER, type Purpose } from '@gantry/service-runtime'
import {
  answered,
  contextOf,
  currentContext,
  inContext,
  inOwnContext,
  inSpan,
  messaging,
  requestSpan,
} from '@gantry/tracing'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { KnownReplica, Replicas } from './replicas.ts'

export interface InternalRequestsOptions {
  bus: Bus
  /** Services by name. Requests to services that are missing here use the bus. */
  services: Readonly<Record<string, Replicas | undefined>>
  basePath: string
  /** Signs a principal for an internal request. @returns the value of the principal header */
  pass(purpose: Purpose): string
}

export interface InternalRequests {
  /** The same bus, but requests to services with a configured URL use HTTP. */
  bus: Bus
  /** Answers requests of `askEach`, over HTTP alone: users of NATS need no rights for the subject. */
  respond(subject: string, handler: Responder): void
  /**
   * Asks each known replica of a service at the same time.
   * @returns the replicas, and the reply of each; undefined for one that does not answer in time, null for one that refuses,
   *   e.g. because its release does not know the subject
   */
  askEach(subject: string, timeoutMs: number): Promise<{ replica: KnownReplica; reply: unknown }[]>
  /** Adds the route that answers requests of other services. `vouched` admits a request and then its subject. */
  routes(app: FastifyInstance, vouched: PassedPrincipals['vouched']): void
}

const PATH = '/inside/requests'

const purposeOf = (subject: string): Purpose => ({ service: serviceOf(subject), id: subject })

const Question = z.object({ subject: z.string(), data: z.json() })

/** Answers requests, each in the context of its headers. */
const answeringInContext =
  (system: string, subject: string, answer: Responder): Responder =>
  (data, headers) => {
    const context = contextOf(headers, {
      name: `process ${subject}`,
      kind: 'server',
      attributes: () => messaging(system, 'process', subject),
    })
    return context ? inOwnContext(context, () => answer(data)) : inContext(undefined, () => answer(data))
  }

interface Asked {
  /** The value of the principal header. */
  shown: string
  body: string
  timeoutMs: number
}

/** @returns the reply; undefined when the replica did not answer, null when it refused or has no responder for the subject */
async function ask(base: string, { shown, body, timeoutMs }: Asked): Promise<Reply | null | undefined> {
  const url = new URL(`${base}${PATH}`)
  const headers = { 'content-type': 'application/json', [PRINCIPAL_HEADER]: shown }
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    return await inSpan(requestSpan('POST', url), async span => {
      const context = currentContext()?.headers
      const response = await fetch(url, { method: 'POST', headers: { ...headers, ...context }, body, signal })
      answered(span, response.status)
      const reply: unknown = await response.json()
      return isReply(reply) ? reply : null
    })
  } catch {
    return undefined
  }
}

/**
 * Sends requests between services over HTTP instead of the bus. So writes that need an answer of another service continue
 * while the bus is unavailable, and events that one service sends to another directly are visible in the next read.
 * Responders are idempotent, so a request without an answer is repeated at another replica. Both ways carry the context of
 * the request in progress.
 */
export function internalRequests({
  bus,
  services,
  basePath,
  pass,
}: InternalRequestsOptions): InternalRequests {
  const responders = new Map<string, Responder>()

  const request: Bus['request'] = async (subject, data, { timeoutMs }) => {
    const replicas = services[serviceOf(subject)]
    if (!replicas) {
      const attributes = () => messaging(bus.system, 'send', subject)
      return inSpan({ name: `send ${subject}`, kind: 'client', attributes }, () =>
        bus.request(subject, data, { timeoutMs, headers: currentContext()?.headers }),
      )
    }
    const body = JSON.stringify({ subject, data })
    let failed: string | undefined
    for (const _try of ['first', 'second']) {
      const replica = replicas.next(failed)
      // Half of the time is left for a second try, in case this replica is paused.
      const reply = await ask(`${replicas.inside(replica)}${basePath}`, {
        shown: pass(purposeOf(subject)),
        body,
        timeoutMs: Math.ceil(timeoutMs / 2),
      })
      if (reply) return resultOf(reply)
      replicas.leaveOut(replica)
      failed = replica
    }
    throw new NoResponder(subject)
  }

  const askEach: InternalRequests['askEach'] = async (subject, timeoutMs) => {
    const replicas = services[serviceOf(subject)]
    const body = JSON.stringify({ subject, data: null })
    const asked = (replicas?.all() ?? []).map(async replica => {
      const to = `${replicas?.inside(replica.origin)}${basePath}`
      const reply = await ask(to, { shown: pass(purposeOf(subject)), body, timeoutMs })
      return { replica, reply: reply && ('ok' in reply ? reply.ok : null) }
    })
    return Promise.all(asked)
  }

  return {
    respond: (subject, handler) => void responders.set(subject, handler),
    askEach,
    bus: {
      ...bus,
      request,
      respond(subject, handler) {
        responders.set(subject, handler)
        const stop = bus.respond(subject, answeringInContext(bus.system, subject, handler))
        return () => {
          responders.delete(subject)
          stop()
        }
      },
    },
    routes(app, vouched) {
      app.addHook('onRequest', async request => vouched(request))
      app.post(PATH, { config: { vouched: true } }, async request => {
        const { subject, data } = Question.parse(request.body)
        vouched(request, purposeOf(subject))
        const responder = responders.get(subject)
        if (!responder) throw new Refusal('not-ready', { detail: `there is no responder for ${subject}` })
        return replyOf(() => responder(data))
      })
    },
  }
}
