import { BusUnavailable } from '@gantry/messaging'
import { createInbox, type Msg, nanos } from 'nats'
import { orLost, type Session } from './connection.ts'

const EXPIRES_MS = 30_000
const HEARTBEAT_MS = 5_000
/** A consumer that was silent for this long no longer exists, even if the server has not reported it. */
const QUIET_MS = 3 * HEARTBEAT_MS

interface Handlers {
  message(msg: Msg): void
  /** The request is over: there were no messages, or not enough in time. */
  ended(): void
  /** The consumer does not deliver any more. */
  failed(error: BusUnavailable): void
}

export interface Pull {
  /** Requests `batch` messages; with `wait` the request stays open for new ones. */
  ask(batch: number, wait: boolean): void
  /** Resolves when all messages in flight have been passed on. */
  close(): Promise<void>
}

/** Requests messages from a JetStream consumer (ADR-13, "Pull Subscribe internals"). */
export function openPull(
  { nc, stream, inbox: prefix, lost }: Session,
  consumer: string,
  handlers: Handlers,
): Pull {
  const inbox = createInbox(prefix)
  let heardAt = performance.now()
  let waiting = false
  /** Number of messages that the request may still bring. The server sends heartbeats until it has brought all. */
  let left = 0

  const subscription = nc.subscribe(inbox, {
    callback(error, msg) {
      heardAt = performance.now()
      if (error) handlers.failed(new BusUnavailable(error))
      else if (msg.subject !== inbox) {
        left -= 1
        if (left === 0) waiting = false
        handlers.message(msg)
      } else status(msg.headers?.code ?? 0, msg.headers?.description ?? '')
    },
  })
  const status = (code: number, description: string) => {
    if (code === 100) return
    waiting = false
    if (code === 404 || code === 408) handlers.ended()
    else handlers.failed(new BusUnavailable(`consumer ${consumer}: ${code} ${description}`))
  }
  const onLost = () => handlers.failed(lost.reason)
  lost.addEventListener('abort', onLost)
  const watch = setInterval(() => {
    if (waiting && performance.now() - heardAt > QUIET_MS)
      handlers.failed(new BusUnavailable(`consumer ${consumer} does not respond`))
  }, HEARTBEAT_MS)

  return {
    ask(batch, wait) {
      if (nc.isClosed()) return
      heardAt = performance.now()
      waiting = wait
      left = batch
      const limits = { expires: nanos(EXPIRES_MS), idle_heartbeat: nanos(HEARTBEAT_MS) }
      const request = JSON.stringify({ batch, ...(wait ? limits : { no_wait: true }) })
      nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, request, { reply: inbox })
    },
    async close() {
      clearInterval(watch)
      lost.removeEventListener('abort', onLost)
      if (!lost.aborted && !nc.isClosed()) await orLost(subscription.drain(), lost)
    },
  }
}
