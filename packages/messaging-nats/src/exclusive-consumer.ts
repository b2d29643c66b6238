import { BusUnavailable } from '@gantry/messaging'
import { createInbox, type Msg, type Subscription } from 'nats'
import type { Session } from './connection.ts'
import { openPull, type Pull } from './pull.ts'

const ACK = new TextEncoder().encode('+ACK')
const NAK = new TextEncoder().encode('-NAK')
const WORKING = new TextEncoder().encode('+WPI')
/** How long the server may take to confirm an acknowledgement. */
const CONFIRM_MS = 5_000

/** A message that was delivered here and is not acknowledged yet. */
interface Current {
  msg: Msg
  /** Until when the message certainly belongs to this process, by performance.now(). */
  until: number
  acknowledged?: Promise<void>
}

export interface ExclusiveConsumerOptions {
  session: Session
  consumer: string
  /** How long the server waits for the acknowledgement of a silent process, in milliseconds: the ack_wait of the consumer. */
  ackWaitMs: number
  signal: AbortSignal
}

/**
 * Receives the messages of a durable consumer, which delivers one message at a time to one of the processes that use it.
 * This process keeps a message while it handles it. After a pause for longer than `ackWaitMs` it has lost the message, and
 * its acknowledgement is refused. It requests one message at a time: a message that waits for a paused or disconnected
 * process blocks all others.
 */
export class ExclusiveConsumer {
  readonly #options: ExclusiveConsumerOptions
  readonly #pull: Pull
  readonly #confirmations: Confirmations
  readonly #heartbeat: NodeJS.Timeout
  readonly #wake = () => this.#proceed()
  #proceed = () => {}
  #current: Current | undefined
  /** The message that `next` returned last. */
  #returned: Current | undefined
  #requested = false
  #closed = false
  #failure: BusUnavailable | undefined
  /** A message that arrives now was sent by the server after this time. */
  #keptAliveAt = performance.now()

  constructor(options: ExclusiveConsumerOptions) {
    const { session, consumer, ackWaitMs, signal } = options
    this.#options = options
    this.#confirmations = new Confirmations(session, consumer, error => this.#fail(error))
    this.#pull = openPull(session, consumer, {
      message: msg => this.#receive(msg),
      ended: () => {
        this.#requested = false
        if (!this.#current) this.#request()
      },
      failed: error => this.#fail(error),
    })
    // Runs after pending input was read: after a pause, that input is older than the beat.
    this.#heartbeat = setInterval(() => setImmediate(() => this.#keepAlive()), ackWaitMs / 3)
    signal.addEventListener('abort', this.#wake)
    this.#request()
  }

  /**
   * The next message; undefined after the signal was aborted. `ack` resolves when the server has recorded that the message
   * is handled.
   * @throws BusUnavailable
   */
  async next(): Promise<{ msg: Msg; ack(): Promise<void> } | undefined> {
    for (;;) {
      if (this.#failure) throw this.#failure
      if (this.#options.signal.aborted) return undefined
      const current = this.#current
      if (current && current !== this.#returned) {
        this.#returned = current
        return {
          msg: current.msg,
          ack: () => {
            current.acknowledged ??= this.#acknowledge(current)
            return current.acknowledged
          },
        }
      }
      await new Promise<void>(resolve => {
        this.#proceed = resolve
      })
    }
  }

  /** Gives up the unacknowledged message, which the server delivers again after a while. */
  giveUp(): void {
    this.#current = undefined
    this.#request()
  }

  /** Returns the unacknowledged message at once. */
  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#options.signal.removeEventListener('abort', this.#wake)
    const current = this.#current
    this.#current = undefined
    if (current && performance.now() < current.until) this.#send(current.msg, NAK)
    await this.#pull.close()
    await this.#confirmations.settled()
    clearInterval(this.#heartbeat)
    this.#confirmations.close()
  }

  async #acknowledge(current: Current): Promise<void> {
    const { consumer } = this.#options
    if (this.#failure) throw this.#failure
    if (this.#closed) throw new BusUnavailable(`consumer ${consumer} was left`)
    if (performance.now() >= current.until)
      throw new BusUnavailable(`consumer ${consumer} has gone to another holder`)
    if (this.#current === current) this.#current = undefined
    const confirmed = this.#confirmations.expect()
    this.#send(current.msg, ACK, this.#confirmations.inbox)
    this.#request()
    await confirmed
  }

  #receive(msg: Msg): void {
    this.#requested = false
    const until = this.#keptAliveAt + this.#options.ackWaitMs
    if (this.#closed) this.#send(msg, NAK)
    // It waited here while this process was paused, and may belong to another process by now.
    else if (performance.now() >= until) this.#request()
    else {
      this.#current = { msg, until }
      this.#wake()
    }
  }

  #request(): void {
    if (this.#requested || this.#closed) return
    this.#requested = true
    this.#pull.ask(1, true)
  }

  #send(msg: Msg, payload: Uint8Array, reply?: string): void {
    const { nc } = this.#options.session
    if (msg.reply && !nc.isClosed()) nc.publish(msg.reply, payload, reply ? { reply } : {})
  }

  #keepAlive(): void {
    const now = performance.now()
    if (this.#current && now < this.#current.until) {
      this.#send(this.#current.msg, WORKING)
      this.#current.until = now + this.#options.ackWaitMs
    }
    this.#confirmations.check()
    this.#keptAliveAt = now
  }

  #fail(error: BusUnavailable): void {
    this.#failure ??= error
    this.#confirmations.reject(this.#failure)
    this.#wake()
  }
}

/** Acknowledgements that were sent, which the server confirms in order. */
class Confirmations {
  readonly inbox: string
  readonly #consumer: string
  readonly #fail: (error: BusUnavailable) => void
  readonly #subscription: Subscription
  readonly #awaited: (PromiseWithResolvers<void> & { since: number })[] = []

  constructor({ nc, inbox }: Session, consumer: string, fail: (error: BusUnavailable) => void) {
    this.inbox = createInbox(inbox)
    this.#consumer = consumer
    this.#fail = fail
    this.#subscription = nc.subscribe(this.inbox, {
      callback: (error, msg) => {
        if (error || msg.headers?.hasError)
          return fail(new BusUnavailable(error ?? `consumer ${consumer}: ${msg.headers?.status}`))
        this.#awaited.shift()?.resolve()
      },
    })
  }

  /** Resolves when the server has confirmed the acknowledgement that is sent next. */
  expect(): Promise<void> {
    const confirmation = { ...Promise.withResolvers<void>(), since: performance.now() }
    this.#awaited.push(confirmation)
    return confirmation.promise
  }

  /** Reports a failure when the server is silent for too long. */
  check(): void {
    const [first] = this.#awaited
    if (first && performance.now() - first.since > CONFIRM_MS)
      this.#fail(new BusUnavailable(`consumer ${this.#consumer} does not confirm an acknowledgement`))
  }

  reject(error: BusUnavailable): void {
    for (const { reject } of this.#awaited.splice(0)) reject(error)
  }

  async settled(): Promise<void> {
    await Promise.allSettled(this.#awaited.map(({ promise }) => promise))
  }

  close(): void {
    if (!this.#subscription.isClosed()) this.#subscription.unsubscribe()
  }
}
