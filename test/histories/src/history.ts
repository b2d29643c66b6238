import { isDeepStrictEqual } from 'node:util'
import {
  cancelRebuild,
  NO_STREAM,
  pendingRebuild,
  type RecordedEvent,
  requestRebuild,
  START,
  streamCategory,
  streamId,
} from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { REMOVALS_KEPT_MS } from '@gantry/stores'
import { expect, vi } from 'vitest'
import { type Caller, Calls, type Fate, type Port } from './calls.ts'
import { portsOf } from './ports.ts'
import { random } from './random.ts'
import {
  type Answer,
  NO_SNAPSHOTS,
  openReplica,
  type PlannedRequest,
  type Replica,
  type Request,
  type ServiceUnderTest,
} from './replica.ts'
import { openReadModels, openStores, type Projected, type Stores } from './stores.ts'

/** One step of a history. Indexes are taken modulo the number of choices. */
export type Step =
  | { do: 'ask'; replica: number; planned: PlannedRequest }
  /** Lets this many calls continue: the oldest first for order 0, else in the random order of that seed. */
  | { do: 'run'; calls: number; order: number }
  | { do: Exclude<Fate, 'go'>; call: number }
  | { do: 'hold'; call: number }
  /** Pauses the process. */
  | { do: 'sleep'; replica: number }
  | { do: 'release' }
  | { do: 'interrupt'; port: Port; calls: number }
  /** Kills the process. Another one is started immediately. */
  | { do: 'kill'; replica: number }
  | { do: 'wait'; ms: number }
  /** An operator requests a rebuild of read models. */
  | { do: 'rebuild'; projector: number }
  /** An operator cancels the rebuild that is requested or under way. */
  | { do: 'cancel'; projector: number }
  /** Advances time until all present tombstones may be deleted. Some calls continue meanwhile. */
  | { do: 'forget'; calls: number }

export interface History {
  replicas: number
  /** Number of events between two snapshots of a stream. */
  snapshotEvery: number
  steps: readonly Step[]
}

const BEGIN = Date.parse('2026-11-21T10:00:00.000Z')
/** The identity of the log, which a service would make at random. */
const LOG_IDENTITY = {
  id: '3f0f2f0e-6c4b-4a7e-9d39-0c1b6a5d7e21',
  type: 'LogIdentified',
  data: {},
  metadata: { actor: { id: null, name: 'log' }, requestId: 'log', at: '2026-11-21T10:00:00.000Z' },
}
/** Time without faults within which a service must come to rest. */
const REST_MS = 120_000
const REST_CALLS = 20_000
/** More calls than the first requests need. */
const FIRST_CALLS = 40
/** Tombstones are found within the first of these times, and deleted within the second. */
const FORGETTING_MS = [REMOVALS_KEPT_MS, REMOVALS_KEPT_MS]
/** Time that passes at once when there are no calls to continue. */
const PAUSE_MS = 500

export interface Played {
  /** What went wrong; undefined when nothing did. */
  failure: string | undefined
  /** What happened, in order. */
  trace: readonly string[]
}

/**
 * Runs a history, lets it come to rest, and compares the read models with those of a rebuild from the same log. It fails
 * when they differ, when an acknowledged write could not be read, or when the service does not come to rest.
 */
export async function play(service: ServiceUnderTest, history: History): Promise<Played> {
  vi.useFakeTimers({
    now: BEGIN,
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance', 'Date'],
  })
  const stores = openStores()
  const world = new World(service, stores, history.snapshotEvery)
  const { trace } = world.calls
  try {
    await stores.eventStore.append('log-identity', [LOG_IDENTITY], NO_STREAM)
    await service.prepare?.(stores)
    await world.open(history.replicas)
    for (const step of history.steps) await world.take(step)
    await world.rest()
    world.end()
    const rebuilt = await rebuild(service, stores)
    const projected = await stores.projected.documents()
    return { failure: difference(projected, rebuilt), trace }
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error), trace }
  } finally {
    world.end()
    await world.calls.settle()
    vi.clearAllTimers()
    vi.useRealTimers()
    await stores.projected.close()
  }
}

type Documents = Awaited<ReturnType<Projected['documents']>>

/** Names every document that differs from that of a rebuild. */
function difference(projected: Documents, rebuilt: Documents): string | undefined {
  const differing: string[] = []
  for (const name of new Set([...Object.keys(projected), ...Object.keys(rebuilt)])) {
    const [one = {}, other = {}] = [projected[name], rebuilt[name]]
    for (const id of new Set([...Object.keys(one), ...Object.keys(other)])) {
      if (isDeepStrictEqual(one[id], other[id])) continue
      const [is, should] = [one[id], other[id]].map(doc => (doc ? JSON.stringify(doc) : 'not there'))
      differing.push(`${name}/${id} is ${is}, but after a rebuild ${should}`)
    }
  }
  return differing.length > 0 ? differing.join('\n') : undefined
}

/** The documents that a service makes from the log without earlier read models. It cannot write to the log. */
async function rebuild(service: ServiceUnderTest, stores: Stores) {
  const projected = openReadModels()
  const never = () => new Promise<never>(() => {})
  const readOnly: Stores = {
    ...stores,
    eventStore: { ...stores.eventStore, append: never, remove: never, saveSnapshot: never },
    projected,
  }
  const calls = new Calls()
  const caller: Caller = { name: 'rebuilt', dead: false }
  let replica: Replica | undefined
  try {
    return await calls.directly(async () => {
      const bus = stores.broker.connect()
      const opened = await openReplica(service, portsOf(readOnly, bus, calls, caller), caller, NO_SNAPSHOTS)
      replica = opened
      await opened.service.start('projectors')
      for (let turn = 0; !(await isProjected(opened.service.projectors, readOnly)); turn++) {
        if (turn > REST_CALLS) throw new Error('the rebuild does not end')
        await calls.settle()
      }
      await bus.close()
      return projected.documents()
    })
  } finally {
    caller.dead = true
    replica?.service.stop()
    await projected.close()
  }
}

/** Whether every projector has reached the end of the log. */
async function isProjected(
  projectors: readonly string[],
  { eventStore, projected }: { eventStore: Stores['eventStore']; projected: Projected },
): Promise<boolean> {
  const head = await eventStore.head()
  if (head === START) return true
  return projectors.every(name => projected.hasProjected(name, head))
}

interface Acknowledged {
  request: Request
  requestId: string
  answer: Answer
}

/** The replicas of a service, and the requests to them. */
class World {
  readonly calls = new Calls()
  readonly #service: ServiceUnderTest
  readonly #stores: Stores
  readonly #snapshotEvery: number
  readonly #replicas: Replica[] = []
  readonly #connections = new Map<Caller, ReturnType<Stores['broker']['connect']>>()
  /** Requests under way, with the process that received each. */
  readonly #asked = new Map<string, Caller>()
  readonly #answered: Acknowledged[] = []
  /** All replicas that were ever started. */
  readonly #ever: Replica[] = []
  /** For each requested rebuild, tells whether it is complete. */
  readonly #rebuilds: (() => Promise<boolean>)[] = []
  #requests = 0

  constructor(service: ServiceUnderTest, stores: Stores, snapshotEvery: number) {
    this.#service = service
    this.#stores = stores
    this.#snapshotEvery = snapshotEvery
  }

  async open(replicas: number) {
    for (let index = 0; index < replicas; index++) this.#replicas.push(await this.#start())
    for (const kind of this.#service.first) {
      await this.#ask(this.#replica(0), { kind, target: 0, name: 0, variant: 1 })
      await this.#run(FIRST_CALLS, random(0))
    }
  }

  async take(step: Step) {
    const { calls } = this
    const { waiting } = calls
    switch (step.do) {
      case 'ask':
        await this.#ask(this.#replica(step.replica), step.planned)
        break
      case 'run':
        await this.#run(step.calls, random(step.order))
        break
      case 'act':
      case 'fail':
      case 'lose': {
        const call = waiting[step.call % waiting.length]
        if (call) await calls.go(call, step.do)
        break
      }
      case 'hold': {
        const call = waiting[step.call % waiting.length]
        if (call) calls.hold(call)
        break
      }
      case 'sleep':
        await calls.putToSleep(this.#replica(step.replica).caller)
        break
      case 'release':
        calls.release()
        break
      case 'interrupt':
        calls.interrupt(step.port, step.calls)
        break
      case 'kill':
        await this.#kill(step.replica % this.#replicas.length)
        break
      case 'wait':
        calls.record(`${step.ms} ms pass`)
        await this.#pass(step.ms)
        break
      case 'rebuild':
        await this.#rebuild(step.projector)
        break
      case 'cancel':
        await this.#cancel(step.projector)
        break
      case 'forget':
        for (const ms of FORGETTING_MS) {
          await this.#writeAll()
          calls.record(`${ms} ms pass`)
          await this.#pass(ms)
          await this.#run(step.calls, random(0))
        }
        break
      default:
        step satisfies never
    }
    await this.#check()
  }

  /** Ends all faults and continues until every request is answered and everything is projected. */
  async rest() {
    this.calls.mend()
    const until = Date.now() + REST_MS
    for (let made = 0; made < REST_CALLS; made++) {
      const call = this.calls.waiting[0]
      if (call) await this.calls.go(call)
      else if (await this.#isAtRest()) return
      else if (Date.now() > until) throw new Error('the service does not come to rest')
      else await this.#pass(PAUSE_MS)
      await this.#check()
    }
    throw new Error('the service does not stop making calls')
  }

  /** Kills all processes. Aborts what their code waits for, which would stay in memory. It has no effects any more. */
  end() {
    for (const { caller } of this.#replicas) this.calls.kill(caller)
    for (const { service } of this.#ever.splice(0)) service.stop()
  }

  async #isAtRest() {
    await this.calls.settle(10)
    if (this.calls.waiting.length > 0 || this.#asked.size > 0) return false
    for (const isRebuilt of this.#rebuilds) if (!(await isRebuilt())) return false
    return isProjected(this.#replica(0).service.projectors, this.#stores)
  }

  async #run(count: number, next: () => number) {
    for (let left = count; left > 0; left--) {
      const { waiting } = this.calls
      const call = waiting[next() % waiting.length]
      if (!call) return
      await this.calls.go(call)
      await this.#check()
    }
  }

  /** All timers that become due fire late and together, as in a busy process. */
  async #pass(ms: number) {
    vi.advanceTimersByTime(ms)
    await this.calls.settle()
  }

  /** Stores execute a write within a minute or never. */
  async #writeAll() {
    for (let call = this.calls.writing[0]; call; call = this.calls.writing[0]) {
      await this.calls.go(call)
      await this.#check()
    }
  }

  async #log() {
    const events: RecordedEvent[] = []
    for await (const event of this.#stores.eventStore.readAll({ after: START })) events.push(event)
    return events
  }

  async #rebuild(index: number) {
    const { projectors } = this.#replica(0).service
    const name = projectors[index % projectors.length]
    if (name === undefined) return
    const id = `rebuild-${this.#rebuilds.length + 1}`
    this.calls.record(`${id} of ${name} is asked for`)
    this.#rebuilds.push(await requestRebuild(name, this.#stores.projected.readModels, id))
  }

  async #cancel(index: number) {
    const { readModels } = this.#stores.projected
    const { projectors } = this.#replica(0).service
    const name = projectors[index % projectors.length] ?? ''
    const pending = await pendingRebuild(name, readModels)
    if (pending === undefined) return
    this.calls.record(`${pending} of ${name} is cancelled`)
    await cancelRebuild(name, readModels, pending)
  }

  #replica(index: number): Replica {
    const replica = this.#replicas[index % this.#replicas.length]
    if (!replica) throw new Error('there is no replica')
    return replica
  }

  async #start(): Promise<Replica> {
    const caller: Caller = { name: `replica ${this.#ever.length + 1}`, dead: false }
    const bus = this.#stores.broker.connect()
    this.#connections.set(caller, bus)
    const ports = portsOf(this.#stores, bus, this.calls, caller)
    const replica = await openReplica(this.#service, ports, caller, this.#snapshotEvery)
    this.#ever.push(replica)
    await replica.service.start()
    await this.calls.settle()
    return replica
  }

  async #kill(index: number) {
    const { caller } = this.#replica(index)
    this.calls.kill(caller)
    for (const [request, to] of this.#asked) if (to === caller) this.#asked.delete(request)
    await this.#connections.get(caller)?.close()
    this.#replicas[index] = await this.#start()
  }

  async #ask(replica: Replica, planned: PlannedRequest) {
    const log = await this.#log()
    const make = this.#service.requests[planned.kind]
    const wanted = make?.({ ...planned, log, id: category => idOf(log, category, planned.target) })
    if (!wanted) return
    if ('subject' in wanted) {
      this.calls.record(`others publish ${wanted.subject}`)
      await this.#publish(wanted)
    } else this.#request(replica, wanted)
    await this.calls.settle()
  }

  async #publish(message: Message) {
    const bus = this.#stores.broker.connect()
    await bus.publish([message])
    await bus.close()
  }

  #request(replica: Replica, request: Request) {
    const requestId = `request-${++this.#requests}`
    const { method, url, payload, headers } = request
    this.calls.record(`${requestId} to ${replica.caller.name}: ${method} ${url} ${payloadOf(request)}`)
    this.#asked.set(requestId, replica.caller)
    replica
      .call(method, url, { ...(payload && { payload }), headers: { ...headers, 'x-request-id': requestId } })
      .then(answer => {
        if (!this.#asked.delete(requestId)) return
        this.#answered.push({ request, requestId, answer })
      })
  }

  /** Checks that an acknowledged write is in the log, and that the next read through any replica returns it. */
  async #check() {
    for (let answered = this.#answered.shift(); answered; answered = this.#answered.shift()) {
      const { request, requestId, answer } = answered
      this.calls.record(`${requestId} is answered ${answer.status} ${codeOf(answer)}`)
      if (answer.status >= 500 && answer.status !== 503) throw new Error(`${requestId} failed`)
      if (answer.status >= 300) continue
      const log = await this.#log()
      const readAt = request.readAt === undefined ? answer.location : request.readAt
      if (readAt && isLastOfItsStreams(log, requestId)) await this.#read(readAt, answered)
    }
  }

  async #read(url: string, { request, requestId, answer }: Acknowledged) {
    const { caller, call } = this.#replica(this.#requests)
    const read = await this.calls.directly(() => call('GET', url))
    const reader = `read by ${caller.name} after ${requestId} was acknowledged`
    if (request.method === 'DELETE') return expect(read.status, reader).toBe(404)
    expect(read.status, reader).toBe(200)
    if (Buffer.isBuffer(read.body)) return
    const contributed = this.#service.contributed ?? []
    const acknowledged = answer.body as Record<string, unknown>
    for (const [field, value] of Object.entries(read.body as object)) {
      if (contributed.includes(field) || isDeepStrictEqual(value, acknowledged[field])) continue
      throw new Error(`${reader}: ${field} is ${JSON.stringify(value)}, unlike the acknowledged value`)
    }
  }
}

/** Whether the request wrote events, and no other request has written to the same streams since. */
function isLastOfItsStreams(log: readonly RecordedEvent[], requestId: string): boolean {
  const own = log.filter(({ metadata }) => metadata.requestId === requestId)
  return (
    own.length > 0 &&
    own.every(
      ({ stream }) => log.findLast(event => event.stream === stream)?.metadata.requestId === requestId,
    )
  )
}

function idOf(log: readonly RecordedEvent[], category: string, index: number): string | undefined {
  const streams = new Set(
    log.map(({ stream }) => stream).filter(stream => streamCategory(stream) === category),
  )
  const stream = [...streams][index % streams.size]
  return stream && streamId(stream)
}

const payloadOf = ({ payload }: Request) =>
  Buffer.isBuffer(payload) ? `${payload.length} bytes` : payload ? JSON.stringify(payload) : ''

const codeOf = ({ body }: Answer) =>
  body && typeof body === 'object' && 'code' in body ? String(body.code) : ''
