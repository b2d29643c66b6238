import { once } from 'node:events'
import { request as requestAt } from 'node:http'
import { json } from 'node:stream/consumers'
import { isProblemCode, Refusal, type ServiceRequest } from '@gantry/contracts'
import {
  type LocalPeers,
  localPeers,
  type PassedPrincipals,
  type Peers,
  PRINCIPAL_HEADER,
  type Purpose,
  refusalOf,
  Unanswered,
} from '@gantry/service-runtime'
import { answered, currentContext, inSpan, requestSpan } from '@gantry/tracing'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { KnownReplica, Replicas } from './replicas.ts'

export interface InternalRequestsOptions {
  /** The services that requests are sent to, by name. */
  services: Readonly<Record<string, Replicas>>
  basePath: string
  /** Signs a principal for an internal request. @returns the value of the principal header */
  pass(purpose: Purpose): string
}

export interface InternalRequests extends Peers {
  /**
   * Asks each known replica of a service at the same time.
   * @returns the replicas, and the answer of each; undefined for one that does not answer in time, null for one that refuses,
   *   e.g. because its release does not know the request
   */
  askEach(request: ServiceRequest): Promise<{ replica: KnownReplica; answer: unknown }[]>
  /** Adds the route that answers requests of other services. `vouched` admits a request and then its purpose. */
  routes(app: FastifyInstance, vouched: PassedPrincipals['vouched']): void
}

/**
 * Requests between services over HTTP. They do not depend on the bus: writes that need an answer of another service continue
 * while it is unavailable, and events that one service sends to another directly are visible in the next read. A request
 * without an answer is repeated at another replica. It carries the context of the request in progress.
 */
export function internalRequests({ services, basePath, pass }: InternalRequestsOptions): InternalRequests {
  const own = localPeers()

  /** @param timeoutMs time for the replica to answer */
  const send = (
    request: ServiceRequest,
    asked: unknown,
    to: { replicas: Replicas; origin: string },
    timeoutMs: number,
  ) =>
    replyTo(() => {
      const url = new URL(`${to.replicas.inside(to.origin)}${basePath}${PATH}`)
      return inSpan(requestSpan('POST', url), async span => {
        const response = await fetch(url, {
          method: 'POST',
          headers: { ...JSON_BODY, [PRINCIPAL_HEADER]: pass(request), ...currentContext()?.headers },
          body: JSON.stringify({ id: request.id, asked }),
          signal: AbortSignal.timeout(timeoutMs),
        })
        answered(span, response.status)
        return { status: response.status, body: await response.json() }
      })
    })

  return {
    answer: own.answer,
    async ask(request, asked) {
      const replicas = services[request.service]
      if (!replicas) throw new Error(`the URL of ${request.service} is not set`)
      // Half of the time is left for a second try, in case the first replica is paused.
      const timeoutMs = Math.ceil(request.timeoutMs / 2)
      const first = replicas.next()
      const reply = await send(request, asked, { replicas, origin: first }, timeoutMs)
      if (!('missed' in reply)) return resultOf(reply, request)
      replicas.leaveOut(first)
      const other = replicas.next(first)
      const again = await send(request, asked, { replicas, origin: other }, timeoutMs)
      if (!('missed' in again)) return resultOf(again, request)
      replicas.leaveOut(other)
      throw new Unanswered(request, again.missed, reply.mayBeDone || again.mayBeDone)
    },
    async askEach(request) {
      const replicas = services[request.service]
      if (!replicas) return []
      const asked = replicas.all().map(async replica => {
        const to = { replicas, origin: replica.origin }
        const reply = await send(request, null, to, request.timeoutMs)
        if ('answer' in reply) return { replica, answer: reply.answer }
        return { replica, answer: 'missed' in reply && !reply.refuses ? undefined : null }
      })
      return Promise.all(asked)
    },
    routes: (app, vouched) => answering(app, own, vouched),
  }
}

/** The process that answers at a Unix socket. */
export const peerAt = (socketPath: string): Pick<Peers, 'ask'> => ({
  async ask(request, asked) {
    const reply = await replyTo(async () => {
      const signal = AbortSignal.timeout(request.timeoutMs)
      const post = { method: 'POST', headers: JSON_BODY, agent: false }
      const sent = requestAt({ socketPath, path: PATH, ...post, signal })
      const answer = once(sent, 'response')
      sent.end(JSON.stringify({ id: request.id, asked }))
      const [response] = await answer
      return { status: response.statusCode, body: await json(response) }
    })
    if ('missed' in reply) throw new Unanswered(request, reply.missed, reply.mayBeDone)
    return resultOf(reply, request)
  },
})

const PATH = '/inside/requests'
/** The largest document in base64, if gzip does not make it smaller. */
const BODY_LIMIT = 32 * 1_048_576
const JSON_BODY = { 'content-type': 'application/json' }

type Value = z.infer<ReturnType<typeof z.json>>

const Question = z.object({ id: z.string(), asked: z.json() })
/** What a responder has answered, or refused. */
const Reply = z.union([
  z.object({ answer: z.json() }),
  z.object({ refused: z.object({ code: z.string(), details: z.record(z.string(), z.json()) }) }),
])
type Reply = z.infer<typeof Reply>

/** A request without a reply. */
interface Missed {
  missed: string
  /** Whether the process may have carried out the request. */
  mayBeDone: boolean
  /** Whether the process has not taken the request, e.g. because it is not ready. */
  refuses: boolean
}

/** Errors before any part of a request has reached a process. The last four are of sockets in the file system. */
const UNREACHED =
  /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|ENOENT|ENOTDIR|EACCES|EINVAL)$/

async function replyTo(send: () => Promise<{ status: number; body: unknown }>): Promise<Reply | Missed> {
  try {
    const { status, body } = await send()
    const { data: reply } = Reply.safeParse(body)
    if (reply) return reply
    const missed = status === 401 ? 'PRINCIPAL_KEY or ENCRYPTION_KEY differs' : `status ${status}`
    return { missed, mayBeDone: status < 400, refuses: true }
  } catch (error) {
    const { cause, code, message } = error as { cause?: { code?: string }; code?: unknown; message: string }
    const reason = String(cause?.code ?? code ?? '')
    return { missed: reason || message, mayBeDone: !UNREACHED.test(reason), refuses: false }
  }
}

/** The answer in a reply. @throws Refusal */
function resultOf<Answer extends z.ZodType>(
  reply: Reply,
  { id, answer }: Pick<ServiceRequest<z.ZodType, Answer>, 'id' | 'answer'>,
): z.output<Answer> {
  if ('answer' in reply) return answer.parse(reply.answer)
  const { code, details } = reply.refused
  throw isProblemCode(code) ? new Refusal(code, details) : new Error(`${id} is refused: ${code}`)
}

/** Refusals by which a process does not take a request. Others are the result of the request. */
const NOT_TAKEN = new Set(['not-ready', 'invalid-request'])

/** Adds the route that answers requests. `vouched` admits a request and then its purpose. */
export function answering(
  app: FastifyInstance,
  own: Pick<LocalPeers, 'answerTo'>,
  vouched: PassedPrincipals['vouched'],
): void {
  app.addHook('onRequest', async request => vouched(request))
  app.post(PATH, { bodyLimit: BODY_LIMIT, config: { vouched: true } }, async (request): Promise<Reply> => {
    const { data } = Question.safeParse(request.body)
    if (!data) throw new Refusal('malformed-request', { detail: 'The body must have id and asked' })
    const [service = ''] = data.id.split('.')
    vouched(request, { service, id: data.id })
    try {
      return { answer: (await own.answerTo(data.id, data.asked)) as Value }
    } catch (error) {
      const { code = 'internal-error', details = {} } = refusalOf(error) ?? {}
      if (NOT_TAKEN.has(code)) throw error
      if (code === 'internal-error') request.log.error({ err: error, requestId: request.id }, 'failed')
      return { refused: { code, details: details as Record<string, Value> } }
    }
  })
}
