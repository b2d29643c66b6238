import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import { EventStoreUnavailable } from '@gantry/event-sourcing'
import { BusUnavailable } from '@gantry/messaging'
import { ReadModelsUnavailable } from '@gantry/read-models'

export type Port = 'eventStore' | 'readModels' | 'bus' | 'blobs'

const UNAVAILABLE = {
  eventStore: EventStoreUnavailable,
  readModels: ReadModelsUnavailable,
  bus: BusUnavailable,
  blobs: ReadModelsUnavailable,
} as const

/** The process that calls. Once it is dead none of its calls has an effect, and none returns. */
export interface Caller {
  name: string
  dead: boolean
}

interface Call {
  caller: Caller
  port: Port
  what: string
  /** Whether it changes documents. */
  writes: boolean
  /** Carries it out. */
  effect(): Promise<unknown>
  resolve(value: unknown): void
  reject(error: unknown): void
  /** Its outcome, once it was carried out without an answer to the caller. */
  outcome?: Outcome
  held: boolean
}

type Outcome = { value: unknown } | { error: unknown }

/** What happens to a call next. */
export type Fate =
  /** It is carried out and answered. */
  | 'go'
  /** It is carried out; its answer is under way until a later `go`. */
  | 'act'
  /** It fails: without effect, or only its answer is lost when it was carried out already. */
  | 'fail'
  /** It is carried out, and its answer is lost. */
  | 'lose'

/** Turns of the event loop after a call: what follows of it, as far as the next calls, needs no more. */
const TURNS = 2

/**
 * Every call of every replica to the stores and the bus stops here until it is told to go on, so that one seed decides
 * the order of all of them, and which of them fail.
 */
export class Calls {
  /** What happened, in order: the story of a history that failed. */
  readonly told: string[] = []
  #waiting: Call[] = []
  readonly #asleep = new Set<Caller>()
  readonly #outages = new Map<Port, number>()
  readonly #direct = new AsyncLocalStorage<boolean>()

  /** Makes a call, which is carried out when its time has come. */
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

  /** Runs something whose calls are carried out at once and never fail. */
  directly<T>(work: () => Promise<T>): Promise<T> {
    return this.#direct.run(true, work)
  }

  /** Calls that can go on, the oldest first. */
  get waiting(): readonly Call[] {
    return this.#waiting.filter(({ held, caller }) => !held && !this.#asleep.has(caller))
  }

  /** Calls that change documents and have not done so yet, held ones too. */
  get writing(): readonly Call[] {
    return this.#waiting.filter(({ writes, outcome }) => writes && !outcome)
  }

  /** All calls to this port that go on from now fail, up to a number of them. */
  interrupt(port: Port, calls: number) {
    this.#outages.set(port, calls)
    this.tell(`${port} fails ${calls} times`)
  }

  /** The call does not go on before `release`, whatever others do. */
  hold(call: Call) {
    call.held = true
    this.tell(`${describe(call)} is held`)
  }

  /** The process is paused: what it has asked for is carried out, and nothing of it goes on before `release`. */
  async putToSleep(caller: Caller) {
    this.tell(`${caller.name} is paused`)
    this.#asleep.add(caller)
    for (const call of this.#waiting.filter(call => call.caller === caller && !call.outcome))
      await this.go(call, 'act')
  }

  release() {
    this.#asleep.clear()
    for (const call of this.#waiting) call.held = false
  }

  /** Faults end: what waits goes on when it is told to, and succeeds. */
  mend() {
    this.release()
    this.#outages.clear()
  }

  /** What the process has under way never happens. */
  kill(caller: Caller) {
    if (caller.dead) return
    caller.dead = true
    this.#waiting = this.#waiting.filter(call => call.caller !== caller)
    this.tell(`${caller.name} is killed`)
  }

  async go(call: Call, wanted: Fate = 'go') {
    this.#waiting.splice(this.#waiting.indexOf(call), 1)
    const fate = wanted === 'go' && this.#isOut(call) ? 'fail' : wanted
    this.tell(`${describe(call)}${fate === 'go' ? '' : ` → ${fate}`}`)
    if (fate === 'fail') this.#fail(call)
    else if (call.outcome) answer(call, call.outcome)
    else this.#carryOut(call, fate)
    await this.settle()
  }

  /** Lets the code run until it has nothing to do but to wait for calls and timers. */
  async settle(turns = TURNS) {
    for (let turn = 0; turn < turns; turn++) await setImmediate()
  }

  tell(what: string) {
    this.told.push(what)
  }

  #isOut({ port, outcome }: Call): boolean {
    const left = this.#outages.get(port) ?? 0
    if (left === 0 || outcome) return false
    this.#outages.set(port, left - 1)
    return true
  }

  /** Not awaited: a request that another replica answers takes calls of that one. */
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
