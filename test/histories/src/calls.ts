import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import { EventStoreUnavailable } from '@gantry/event-sourcing'
import { BusUnavailable } from '@gantry/messaging'
import { ReadModelsUnavailable, UserKeysUnavailable } from '@gantry/stores'

export type Port = 'eventStore' | 'readModels' | 'bus' | 'blobs' | 'userKeys'

const UNAVAILABLE = {
  eventStore: EventStoreUnavailable,
  readModels: ReadModelsUnavailable,
  bus: BusUnavailable,
  blobs: ReadModelsUnavailable,
  userKeys: UserKeysUnavailable,
} as const

/** A process that makes calls. After its death its calls have no effect and do not return. */
export interface Caller {
  name: string
  dead: boolean
}

interface Call {
  caller: Caller
  port: Port
  what: string
  /** Whether the call changes documents. */
  writes: boolean
  /** Executes the call. */
  effect(): Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
  /** The outcome of a call that was executed but not answered yet. */
  outcome?: Outcome
  held: boolean
}

type Outcome = { value: unknown } | { error: unknown }

/** What happens to a call next. */
export type Fate =
  /** The call is executed and answered. */
  | 'go'
  /** The call is executed. Its answer is delayed until a later `go`. */
  | 'act'
  /** The call fails without an effect. If it was executed already, only its answer is lost. */
  | 'fail'
  /** The call is executed, and its answer is lost. */
  | 'lose'

/** Turns of the event loop after a call, enough for the code to reach its next calls. */
const TURNS = 2

/**
 * Holds every call of every replica to the stores and the bus until it may continue, so that one seed decides the order of
 * all calls and which of them fail.
 */
export class Calls {
  /** What happened, in order. It is printed for a history that fails. */
  readonly trace: string[] = []
  #waiting: Call[] = []
  readonly #asleep = new Set<Caller>()
  readonly #outages = new Map<Port, number>()
  readonly #direct = new AsyncLocalStorage<boolean>()

  /** Makes a call. It is executed when the history continues it. */
  async make<T>(
    caller: Caller,
    { port, what, writes }: Pick<Call, 'port' | 'what' | 'writes'>,
    effect: () => Promise<T>,
  ): Promise<T> {
    if (!caller.dead && this.#direct.getStore()) return effect()
    return new Promise<T>((resolve, reject) => {
      if (caller.dead) return
      this.#waiting.push({
        caller,
        port,
        what,
        writes,
        effect,
        resolve: resolve as (value: unknown) => void,
        reject,
        held: false,
      })
    })
  }

  /** Runs work whose calls are executed immediately and never fail. */
  directly<T>(work: () => Promise<T>): Promise<T> {
    return this.#direct.run(true, work)
  }

  /** Calls that can continue, the oldest first. */
  get waiting(): readonly Call[] {
    return this.#waiting.filter(({ held, caller }) => !held && !this.#asleep.has(caller))
  }

  /** Calls that change documents and were not executed yet, including held ones. */
  get writing(): readonly Call[] {
    return this.#waiting.filter(({ writes, outcome }) => writes && !outcome)
  }

  /** Makes the next calls to this port fail, up to a number of calls. */
  interrupt(port: Port, calls: number) {
    this.#outages.set(port, calls)
    this.record(`${port} fails ${calls} times`)
  }

  /** Holds a call until `release`. */
  hold(call: Call) {
    call.held = true
    this.record(`${describe(call)} is held`)
  }

  /** Pauses the process: its current calls are executed, but nothing of it continues until `release`. */
  async putToSleep(caller: Caller) {
    this.record(`${caller.name} is paused`)
    this.#asleep.add(caller)
    for (const call of this.#waiting.filter(call => call.caller === caller && !call.outcome))
      await this.go(call, 'act')
  }

  release() {
    this.#asleep.clear()
    for (const call of this.#waiting) call.held = false
  }

  /** Ends all faults: waiting calls can continue and succeed. */
  mend() {
    this.release()
    this.#outages.clear()
  }

  /** Discards the calls that the process has under way. */
  kill(caller: Caller) {
    if (caller.dead) return
    caller.dead = true
    this.#waiting = this.#waiting.filter(call => call.caller !== caller)
    this.record(`${caller.name} is killed`)
  }

  async go(call: Call, wanted: Fate = 'go') {
    this.#waiting.splice(this.#waiting.indexOf(call), 1)
    const fate = wanted === 'go' && this.#isOut(call) ? 'fail' : wanted
    this.record(`${describe(call)}${fate === 'go' ? '' : ` → ${fate}`}`)
    if (fate === 'fail') this.#fail(call)
    else if (call.outcome) answer(call, call.outcome)
    else this.#carryOut(call, fate)
    await this.settle()
  }

  /** Lets the code run until it only waits for calls and timers. */
  async settle(turns = TURNS) {
    for (let turn = 0; turn < turns; turn++) await setImmediate()
  }

  record(what: string) {
    this.trace.push(what)
  }

  #isOut({ port, outcome }: Call): boolean {
    const left = this.#outages.get(port) ?? 0
    if (left === 0 || outcome) return false
    this.#outages.set(port, left - 1)
    return true
  }

  /** Not awaited: a request that another replica answers needs calls of that replica. */
  #carryOut(call: Call, fate: Exclude<Fate, 'fail'>) {
    const done = (outcome: Outcome) => {
      if (call.caller.dead) return
      if (fate === 'go') return answer(call, outcome)
      if (fate === 'lose') return this.#fail(call)
      call.outcome = outcome
      this.#waiting.push(call)
    }
    call.effect().then(
      value => done({ value }),
      error => done({ error }),
    )
  }

  #fail({ port, reject }: Call) {
    reject(new UNAVAILABLE[port]('by the history'))
  }
}

function answer({ resolve, reject }: Call, outcome: Outcome) {
  if ('error' in outcome) reject(outcome.error)
  else resolve(outcome.value)
}

const describe = ({ caller, port, what, outcome }: Call) =>
  `${caller.name} ${port} ${outcome ? 'answer to ' : ''}${what}`
