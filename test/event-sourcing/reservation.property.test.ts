import { setImmediate } from 'node:timers/promises'
import { Refusal } from '@gantry/contracts'
import {
  type Aggregate,
  aggregate,
  type CommandMetadata,
  type Decider,
  type DomainCommand,
  type EventStore,
  type NewEvent,
  type RecordedEvent,
  reservations,
  WrongExpectedRevision,
} from '@gantry/event-sourcing'
import { storyMetadata } from '@gantry/event-sourcing/testing'
import fc from 'fast-check'
import { expect, test } from 'vitest'

type ThingEvent =
  | { type: 'Named'; data: { name: string } }
  | { type: 'Ended'; data: object }
  | { type: 'NameClaimFenced'; data: object }
type ThingState = { status: 'Absent' } | { status: 'Live'; name: string } | { status: 'Ended' }
type ThingCommand = DomainCommand & ({ type: 'Name'; name: string } | { type: 'End' })

/** A holder of a name. It takes its first name or another one, and gives it up when it ends. */
const thing: Decider<ThingState, ThingCommand, ThingEvent> = {
  initial: { status: 'Absent' },
  events: { Named: [], Ended: [], NameClaimFenced: [] },
  decide(state, command) {
    if (state.status === 'Ended') throw new Refusal('api-not-found')
    if (command.type === 'End') return state.status === 'Live' ? [{ type: 'Ended', data: {} }] : []
    const hasIt = state.status === 'Live' && state.name === command.name
    return hasIt ? [] : [{ type: 'Named', data: { name: command.name } }]
  },
  evolve(state, event) {
    if (event.type === 'Named') return { status: 'Live', name: event.data.name }
    return event.type === 'Ended' ? { status: 'Ended' } : state
  },
}

/** The log that all replicas share. The leader decides appends, so they are never stale. */
class Log {
  readonly events: RecordedEvent[] = []

  stream(name: string, before = this.events.length): RecordedEvent[] {
    return this.events.slice(0, Math.max(0, before)).filter(({ stream }) => stream === name)
  }

  append(stream: string, events: NewEvent[], expected: number) {
    const there = this.stream(stream)
    const repeated = events.every(({ id }, index) => there[expected + 1 + index]?.id === id)
    if (!repeated) {
      const actual = there.length - 1
      if (actual !== expected) throw new WrongExpectedRevision(stream, expected, actual)
      for (const [index, event] of events.entries()) {
        const position = String(this.events.length).padStart(9, '0')
        const recorded = { ...event, stream, revision: expected + 1 + index, position, recordedAt: '' }
        this.events.push(recorded as RecordedEvent)
      }
    }
    return { revision: expected + events.length, position: '' }
  }
}

interface ReplicaPlan {
  commands: { holder: string; name: string | null }[]
  /** Turns of the event loop that each call waits before and after it reaches the log, in order. */
  turns: number[]
  /** Number of events at the end of the log that each read misses, in order; 0 after the last value. */
  lags: number[]
  /** Index of the call to the store during which the replica dies, before or after the effect; -1 for never. */
  diesAt: number
}

const NEVER = new Promise<never>(() => {})

/** The store as one replica accesses it. */
function storeOf(log: Log, { turns, lags, diesAt }: ReplicaPlan, died: () => void): EventStore {
  let calls = 0
  let waits = 0
  let reads = 0
  const turn = async () => {
    const count = turns.length === 0 ? 0 : (turns[waits++ % turns.length] ?? 0)
    for (let n = 0; n < count; n++) await setImmediate()
    if (calls++ !== diesAt) return
    died()
    await NEVER
  }
  const reach = async <T>(call: () => T): Promise<T> => {
    await turn()
    const result = call()
    await turn()
    return result
  }
  const unused = () => {
    throw new Error('not used here')
  }
  const read = (stream: string) => log.stream(stream, log.events.length - (lags[reads++] ?? 0))
  return {
    system: 'memory',
    append: (stream, events, expected) => reach(() => log.append(stream, events, expected)),
    readStream: (stream, from = 0) => reach(() => read(stream).slice(from)),
    readLast: stream => reach(() => read(stream).at(-1)),
    readAll: unused,
    subscribe: unused,
    remove: unused,
    saveSnapshot: unused,
    readSnapshot: unused,
    head: unused,
    close: async () => {},
  }
}

const now = () => new Date(storyMetadata.now)

function thingsOf(eventStore: EventStore): Aggregate<ThingState, ThingCommand, ThingEvent> {
  const things = aggregate<ThingState, ThingCommand, ThingEvent>({
    eventStore,
    category: 'thing',
    decider: thing,
    async reserve(id, { revision }, events, { metadata }) {
      for (const { type, data } of events)
        if (type === 'Named') await names.reserve(data.name, id, revision, metadata)
    },
  })
  const names = reservations({
    eventStore,
    category: 'thing',
    takenCode: 'api-name-taken',
    // A reservation may be fenced immediately: rivals wait least, and the most can go wrong.
    graceMs: 0,
    now,
    async holding(holder) {
      const { state, revision } = await things.load(holder)
      return { name: state.status === 'Live' ? state.name : undefined, revision }
    },
  })
  return things
}

/** Runs the plans concurrently, then checks which names a new replica gets. @returns the log */
async function run(plans: ReplicaPlan[]): Promise<Log> {
  const log = new Log()
  let commands = 0
  const metadata = (): CommandMetadata => ({
    ...storyMetadata,
    commandId: `00000000-0000-4000-8000-${String(commands++).padStart(12, '0')}`,
  })
  const carryOut = async (plan: ReplicaPlan, died: () => void) => {
    const things = thingsOf(storeOf(log, plan, died))
    for (const { holder, name } of plan.commands) {
      const command = name === null ? ({ type: 'End' } as const) : ({ type: 'Name', name } as const)
      await things.execute(holder, { ...command, metadata: metadata() }).catch(error => {
        // WrongExpectedRevision follows many conflicts: rivals fence each other immediately here.
        if (!(error instanceof Refusal || error instanceof WrongExpectedRevision)) throw error
      })
    }
  }
  await Promise.all(
    plans.map(plan => {
      const { promise: death, resolve: died } = Promise.withResolvers<void>()
      return Promise.race([carryOut(plan, died), death])
    }),
  )
  // After any deaths and stale reads a new replica gets every name without a holder, and no other name.
  const things = thingsOf(storeOf(log, { commands: [], turns: [], lags: [], diesAt: -1 }, () => {}))
  for (const name of NAMES) {
    const isHeld = [...heldNames(log.events).values()].includes(name)
    const outcome = await things.execute(`new-${name}`, { type: 'Name', name, metadata: metadata() }).then(
      () => 'named',
      ({ code }: Refusal) => code,
    )
    expect(outcome).toBe(isHeld ? 'api-name-taken' : 'named')
  }
  return log
}

/** The names of the holders after the events. */
function heldNames(events: readonly RecordedEvent[], each = (_: Map<string, string>) => {}) {
  const held = new Map<string, string>()
  for (const { stream, type, data } of events) {
    if (type === 'Named') held.set(stream, String(data.name))
    if (type === 'Ended') held.delete(stream)
    each(held)
  }
  return held
}

const NAMES = ['x', 'y']
const plan: fc.Arbitrary<ReplicaPlan> = fc.record({
  commands: fc.array(
    fc.record({
      holder: fc.constantFrom('a', 'b', 'c'),
      name: fc.oneof(
        { weight: 4, arbitrary: fc.constantFrom(...NAMES) },
        { weight: 1, arbitrary: fc.constant(null) },
      ),
    }),
    { maxLength: 6 },
  ),
  turns: fc.array(fc.nat(4), { maxLength: 12 }),
  lags: fc.array(fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(6) }), {
    maxLength: 30,
  }),
  diesAt: fc.oneof({ weight: 3, arbitrary: fc.constant(-1) }, { weight: 1, arbitrary: fc.nat(20) }),
})

test('a name has one holder at a time under three racing replicas with stale reads and deaths', async () => {
  await fc.assert(
    fc.asyncProperty(fc.tuple(plan, plan, plan), async plans => {
      const { events } = await run(plans)
      heldNames(events, held => expect(new Set(held.values()).size).toBe(held.size))
    }),
    { seed: 20_261_121, numRuns: 200 },
  )
})
