import { BusUnavailable } from '@gantry/messaging'
import { createInbox, type Msg } from 'nats'
import type { Session } from './connection.ts'
import { openPull } from './pull.ts'

const ACK = new TextEncoder().encode('+ACK')
const NAK = new TextEncoder().encode('-NAK')
const WORKING = new TextEncoder().encode('+WPI')
/** How long the server may take to confirm an acknowledgement. */
const CONFIRM_MS = 5_000

/** A message that this holder has received. */
interface Held {
  msg: Msg
  /** Resolves when the server has recorded that the message is handled. @throws BusUnavailable */
  ack(): Promise<void>
}

interface Mine extends Held {
  /** Until when the message certainly belongs to this holder, by performance.now(). */
  until: number
  acknowledged?: Promise<void>
}

export interface Hold {
  /** The next message; undefined after the signal was aborted. @throws BusUnavailable */
  next(): Promise<Held | undefined>
  /** Gives up the unacknowledged message, which the server delivers again after a while. */
  pass(): void
  /** Returns the unacknowledged message at once. */
  leave(): Promise<void>
}

/** An acknowledgement that was sent and is not confirmed yet. */
interface Confirmation {
  since: number
  promise: Promise<void>
  resolve(): void
  reject(error: Error): void
}

interface HoldOptions {
  session: Session
  consumer: string
  /** How long the server leaves a message to a silent holder, in milliseconds: the ack_wait of the consumer. */
  holdMs: number
  signal: AbortSignal
}

/**
 * A holder of a durable consumer, which delivers one message at a time to one of its holders. This holder keeps a message
 * while it is being handled here. A holder that was paused for longer than `holdMs` has lost its message, and its
 * acknowledgement is refused. A holder requests one message at a time: a message that waits for a paused or disconnected
 * holder blocks all others.
 */
export function openHold({ session: { nc, inbox }, session, consumer, holdMs, signal }: HoldOptions): Hold {
  const confirmations = createInbox(inbox)
  const awaited: Confirmation[] = []
  let mine: Mine | undefined
  let taken: Mine | undefined
  let asking = false
  let left = false
  let failure: BusUnavailable | undefined
  let wake = () => {}
  /** A message that arrives now was sent by the server after this time. */
  let beatAt = performance.now()

  const send = (msg: Msg, payload: Uint8Array, reply?: string) => {
    if (msg.reply && !nc.isClosed()) nc.publish(msg.reply, payload, reply ? { reply } : {})
  }
  const ask = () => {
    if (asking || left) return
    asking = true
    pull.ask(1, true)
  }
  const fail = (error: BusUnavailable) => {
    failure ??= error
    for (const { reject } of awaited.splice(0)) reject(failure)
    wake()
  }

  const acknowledge = async (held: Mine) => {
    if (failure) throw failure
    if (left) throw new BusUnavailable(`consumer ${consumer} was left`)
    if (performance.now() >= held.until)
      throw new BusUnavailable(`consumer ${consumer} has gone to another holder`)
    if (mine === held) mine = undefined
    const confirmation = { ...Promise.withResolvers<void>(), since: performance.now() }
    awaited.push(confirmation)
    send(held.msg, ACK, confirmations)
    ask()
    await confirmation.promise
  }

  const pull = openPull(session, consumer, {
    message(msg) {
      asking = false
      if (left) return send(msg, NAK)
      const until = beatAt + holdMs
      // It waited here while this process was paused, and may belong to another holder by now.
      if (performance.now() >= until) return ask()
      const held: Mine = {
        msg,
        until,
        ack() {
          held.acknowledged ??= acknowledge(held)
          return held.acknowledged
        },
      }
      mine = held
      wake()
    },
    ended() {
      asking = false
      if (!mine) ask()
    },
    failed: fail,
  })
  const confirming = nc.subscribe(confirmations, {
    callback(error, msg) {
      if (error || msg.headers?.hasError)
        return fail(new BusUnavailable(error ?? `consumer ${consumer}: ${msg.headers?.status}`))
      awaited.shift()?.resolve()
    },
  })

  const beat = () => {
    const now = performance.now()
    if (mine && now < mine.until) {
      send(mine.msg, WORKING)
      mine.until = now + holdMs
    }
    if (awaited[0] && now - awaited[0].since > CONFIRM_MS)
      fail(new BusUnavailable(`consumer ${consumer} does not confirm an acknowledgement`))
    beatAt = now
  }
  // Runs after pending input was read: after a pause, that input is older than the beat.
  const beating = setInterval(() => setImmediate(beat), holdMs / 3)
  const onAbort = () => wake()
  signal.addEventListener('abort', onAbort)
  ask()

  return {
    async next() {
      for (;;) {
        if (failure) throw failure
        if (signal.aborted) return undefined
        if (mine && mine !== taken) {
          taken = mine
          return mine
        }
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    },
    pass() {
      mine = undefined
      ask()
    },
    async leave() {
      if (left) return
      left = true
      signal.removeEventListener('abort', onAbort)
      if (mine && performance.now() < mine.until) send(mine.msg, NAK)
      mine = undefined
      await pull.close()
      await Promise.allSettled(awaited.map(({ promise }) => promise))
      clearInterval(beating)
      if (!confirming.isClosed()) confirming.unsubscribe()
    },
  }
}
