import {
  type Bus,
  type Headers,
  NoResponder,
  type Reply,
  RequestTimeout,
  replyOf,
  resultOf,
} from '@gantry/messaging'
import { ErrorCode, headers as emptyHeaders, type Msg, type MsgHdrs, NatsError } from 'nats'
import type { Connection } from './connection.ts'
import { toBusError } from './errors.ts'

/** Responders with the same subject share the requests, on all connections. */
const QUEUE = 'responders'

function natsHeaders(headers: Headers): MsgHdrs {
  const carried = emptyHeaders()
  for (const [name, value] of Object.entries(headers)) carried.set(name, value)
  return carried
}

const headersOf = ({ headers }: Msg): Headers =>
  Object.fromEntries((headers?.keys() ?? []).map(name => [name, headers?.get(name) ?? '']))

interface Requests extends Pick<Bus, 'request' | 'respond'> {
  /** Accepts no more requests, and resolves when the accepted ones are answered. */
  withdraw(): Promise<void>
}

/** Requests are plain NATS requests: the server knows the responders, and picks one of them. */
export function requests(connection: Connection): Requests {
  const responders = new Set<() => Promise<void>>()
  const underWay = new Set<Promise<void>>()

  const request: Bus['request'] = async (subject, data, { timeoutMs, headers }) => {
    const session = await connection.session()
    const { nc } = session
    const msg = await nc
      .request(subject, JSON.stringify(data), {
        timeout: Math.max(1, timeoutMs),
        ...(headers && { headers: natsHeaders(headers) }),
      })
      .catch(error => {
        const { code = '' } = error instanceof NatsError ? error : {}
        if (code === ErrorCode.NoResponders) throw new NoResponder(subject)
        if (code === ErrorCode.Timeout && !nc.isClosed()) throw new RequestTimeout(subject)
        throw toBusError(session, error)
      })
    return resultOf(msg.json<Reply>())
  }

  const reply = async (handler: Parameters<Bus['respond']>[1], msg: Msg) => {
    try {
      msg.respond(JSON.stringify(await replyOf(async () => handler(msg.json(), headersOf(msg)))))
    } catch (error) {
      process.emitWarning(`a request on ${msg.subject} was not answered: ${error}`)
    }
  }

  const respond: Bus['respond'] = (subject, handler) => {
    const stop = connection.subscribe(subject, {
      queue: QUEUE,
      callback(error, msg) {
        if (error) return process.emitWarning(`a responder on ${subject} failed: ${error}`)
        const replying = reply(handler, msg).finally(() => underWay.delete(replying))
        underWay.add(replying)
      },
    })
    responders.add(stop)
    return () => {
      responders.delete(stop)
      const stopping = stop().finally(() => underWay.delete(stopping))
      underWay.add(stopping)
    }
  }

  const withdraw = async () => {
    await Promise.all([...responders].map(stop => stop()))
    await Promise.all(underWay)
  }

  return { request, respond, withdraw }
}
