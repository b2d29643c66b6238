import { setTimeout } from 'node:timers/promises'
import { Refusal, type ServiceRequest } from '@gantry/contracts'
import { z } from 'zod'

/** Requests between services. Adapters: `localPeers` within a process, packages/hosting over HTTP. */
export interface Peers {
  /** Asks a service. @throws Unanswered; the Refusal of the service */
  ask<Asked extends z.ZodType, Answer extends z.ZodType>(
    request: ServiceRequest<Asked, Answer>,
    asked: z.input<Asked>,
  ): Promise<z.output<Answer>>
  /** Answers requests until the returned function is called. */
  answer<Asked extends z.ZodType, Answer extends z.ZodType>(
    request: ServiceRequest<Asked, Answer>,
    respond: (asked: z.output<Asked>) => Promise<z.input<Answer>>,
  ): () => void
}

/** Begins to answer a request. @returns function that ends it */
export type Responder = (peers: Pick<Peers, 'answer'>) => () => void

/** A responder, typed by its request. */
export const responder =
  <Asked extends z.ZodType, Answer extends z.ZodType>(
    request: ServiceRequest<Asked, Answer>,
    respond: (asked: z.output<Asked>) => Promise<z.input<Answer>>,
  ): Responder =>
  peers =>
    peers.answer(request, respond)

/** A service did not answer a request. */
export class Unanswered extends Error {
  /** Whether a process may have carried out the request: it got the request, and the answer was lost or late. */
  readonly mayBeDone: boolean
  readonly reason: string
  constructor({ id }: Pick<ServiceRequest, 'id'>, reason: string, mayBeDone: boolean) {
    super(`no answer to ${id}: ${reason}`)
    this.name = 'Unanswered'
    this.mayBeDone = mayBeDone
    this.reason = reason
  }
}

export interface LocalPeers extends Peers {
  /**
   * The answer to a request from outside, by its id.
   * @throws Refusal not-ready when it is not answered, invalid-request when it is malformed; what the responder throws
   */
  answerTo(id: string, asked: unknown): Promise<unknown>
}

/** The services of this process. Requests between them are calls. */
export function localPeers(): LocalPeers {
  const responders = new Map<string, (asked: unknown) => Promise<unknown>>()

  return {
    async answerTo(id, asked) {
      const respond = responders.get(id)
      if (!respond) throw new Refusal('not-ready', { detail: `${id} is not answered` })
      return respond(asked)
    },
    async ask(request, asked) {
      const respond = responders.get(request.id)
      if (!respond) throw new Unanswered(request, 'its service does not run', false)
      const late = new AbortController()
      const deadline = setTimeout(request.timeoutMs, undefined, { signal: late.signal }).then(() => {
        throw new Unanswered(request, 'timeout', true)
      })
      try {
        return request.answer.parse(await Promise.race([respond(asked), deadline]))
      } finally {
        late.abort()
        deadline.catch(() => {})
      }
    },
    answer({ id, asked }, respond) {
      const parsed = async (given: unknown) => {
        const { success, data, error } = asked.safeParse(given)
        if (!success) throw new Refusal('invalid-request', { detail: z.prettifyError(error) })
        return respond(data)
      }
      responders.set(id, parsed)
      return () => {
        if (responders.get(id) === parsed) responders.delete(id)
      }
    },
  }
}
