import { randomUUID } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { sqliteEventStore } from '@gantry/embedded'
import {
  type Appended,
  type JsonObject,
  type NewEvent,
  NO_STREAM,
  type RecordedEvent,
  START,
  WrongExpectedRevision,
} from '@gantry/event-sourcing'
import type { Json } from '@gantry/messaging'

/** An event as a client sends it. */
export interface Proposal {
  id: string
  type: string
  isJson: boolean
  data: Buffer
  metadata: Buffer
}

export interface Logged extends Proposal {
  stream: string
  revision: number
  /** Sequence number in the whole log: 1, 2, 3 … */
  place: number
  created: Date
}

export type Expected = number | 'any' | 'no_stream' | 'stream_exists'

export class WrongExpectedVersion extends Error {
  readonly stream: string
  readonly expected: Expected
  /** -1 when the stream does not exist. */
  readonly actual: number
  constructor(stream: string, expected: Expected, actual: number) {
    super(`stream ${stream} is at ${actual}, not ${expected}`)
    this.stream = stream
    this.expected = expected
    this.actual = actual
  }
}

export class StreamDeleted extends Error {
  readonly stream: string
  constructor(stream: string) {
    super(`Event stream '${stream}' is deleted.`)
    this.stream = stream
  }
}

/** The state of a stream that decides its reads and appends. */
interface StreamState {
  /** Last revision; -1 when the stream has no events. */
  last: number
  /** Events before this revision are hidden from readers; SOFT_DELETED after a soft delete. */
  hiddenBefore: number
  maxCount: number
  tombstoned: boolean
}

/** Maximum number of cached stream states. */
const REMEMBERED = 100_000
const PAGE = 250
export const TOMBSTONE = '$streamDeleted'

const metastreamOf = (stream: string) => `$$${stream}`
/** What the server stores as the first visible revision of a softly deleted stream. */
const SOFT_DELETED = Number.MAX_SAFE_INTEGER
/** The server acknowledges events in a softly deleted stream before readers see them: within 3 to 5 ms. */
const UNDELETED_AFTER_MS = 5
/** A softly deleted stream is absent for readers and for appends that expect no stream. */
const isAbsent = ({ hiddenBefore, last }: StreamState) => last < 0 || hiddenBefore === SOFT_DELETED

export interface LogOptions {
  now?: () => Date
  /** Called with the stream of every append before it is stored. The append waits for the result. */
  arrived?: (stream: string) => void | Promise<void>
}

/**
 * The rules of EventStoreDB over the embedded event store, which makes the events durable. Only one process at a time may
 * use a file.
 */
export function openLog(path: string, { now, arrived = () => {} }: LogOptions = {}) {
  const events = sqliteEventStore({ path, now })
  const states = new Map<string, StreamState>()
  /** When readers see the new events of streams that were softly deleted. */
  const undeletedAt = new Map<string, number>()

  const stateOf = async (stream: string): Promise<StreamState> => {
    const known = states.get(stream)
    if (known) return known
    const last = (await events.readStream(stream)).at(-1)
    const settings = (await events.readStream(metastreamOf(stream))).at(-1)
    const { $tb = 0, $maxCount = Number.POSITIVE_INFINITY } = settings ? settingsOf(settings) : {}
    const state = {
      last: last?.revision ?? -1,
      hiddenBefore: $tb,
      maxCount: $maxCount,
      tombstoned: last?.type === TOMBSTONE,
    }
    if (states.size >= REMEMBERED) states.clear()
    states.set(stream, state)
    return state
  }

  /** Returns the position of the same events, if the stream already has them in a row. */
  const storedBefore = async (stream: string, proposals: Proposal[]): Promise<Appended | undefined> => {
    const stored = await events.readStream(stream)
    const begin = stored.findIndex(event => event.id === proposals[0]?.id)
    const same = proposals.every(({ id }, index) => stored[begin + index]?.id === id)
    return begin >= 0 && same ? stored[begin + proposals.length - 1] : undefined
  }

  const saveSettings = (stream: string, settings: object, id: string = randomUUID()) => {
    const data = Buffer.from(JSON.stringify(settings))
    const event = { id, type: '$metadata', isJson: true, data, metadata: Buffer.alloc(0) }
    return append(metastreamOf(stream), [event], 'any')
  }

  /** Settings that show the events of a softly deleted stream again take effect when they are stored a second time. */
  const settingsToStore = async (stream: string, proposal: Proposal): Promise<Proposal> => {
    if (!stream.startsWith('$$') || proposal.type !== '$metadata') return proposal
    const { hiddenBefore, last } = await stateOf(stream.slice('$$'.length))
    const settings = JSON.parse(proposal.data.toString() || '{}')
    if (hiddenBefore !== SOFT_DELETED || '$tb' in settings) return proposal
    return { ...proposal, data: Buffer.from(JSON.stringify({ ...settings, $tb: last + 1 })) }
  }

  const append = async (stream: string, given: Proposal[], expected: Expected): Promise<Appended> => {
    const proposals = await Promise.all(given.map(proposal => settingsToStore(stream, proposal)))
    const state = await stateOf(stream)
    if (state.tombstoned) throw new StreamDeleted(stream)
    const absent = isAbsent(state)
    if (expected === 'stream_exists' && absent) {
      throw new WrongExpectedVersion(stream, expected, state.last)
    }
    const anywhere = expected === 'any' || expected === 'stream_exists'
    const earlier = anywhere ? await storedBefore(stream, proposals) : undefined
    if (earlier) return earlier
    const revision =
      typeof expected === 'number' ? expected : expected === 'no_stream' && !absent ? NO_STREAM : state.last
    if (proposals.length === 0) {
      if (revision !== state.last) throw new WrongExpectedVersion(stream, expected, state.last)
      return { revision, position: await events.head() }
    }
    try {
      const appended = await events.append(stream, proposals.map(toEmbedded), revision)
      state.last = Math.max(state.last, appended.revision)
      if (state.hiddenBefore === SOFT_DELETED) {
        undeletedAt.set(stream, performance.now() + UNDELETED_AFTER_MS)
        await saveSettings(stream, { $tb: appended.revision - proposals.length + 1 })
      }
      // A system event may be a tombstone or the settings of another stream.
      if (proposals.some(({ type }) => type.startsWith('$'))) states.clear()
      return appended
    } catch (error) {
      if (!(error instanceof WrongExpectedRevision)) throw error
      states.delete(stream)
      // Another writer was faster. An append without an expected revision is repeated.
      if (anywhere) return append(stream, proposals, expected)
      throw new WrongExpectedVersion(stream, expected, error.actual)
    }
  }

  /** Visible events of a stream; undefined when the stream does not exist. */
  const readStream = async (stream: string): Promise<Logged[] | undefined> => {
    const state = await stateOf(stream)
    if (state.tombstoned) throw new StreamDeleted(stream)
    if (isAbsent(state) || performance.now() < (undeletedAt.get(stream) ?? 0)) return undefined
    undeletedAt.delete(stream)
    return (await events.readStream(stream, firstVisible(state))).map(toLogged)
  }

  /** All existing events after a sequence number. */
  async function* readForwards(after: number): AsyncGenerator<Logged, void, undefined> {
    for await (const event of events.readAll({ after: placeToEmbedded(after) })) yield toLogged(event)
  }

  /** All events before a sequence number, the last one first. */
  async function* readBackwards(before: number): AsyncGenerator<Logged, void, undefined> {
    for (let end = before; end > 1; end -= PAGE) {
      const page: Logged[] = []
      for await (const event of readForwards(Math.max(0, end - PAGE - 1))) {
        if (event.place >= end) break
        page.push(event)
      }
      yield* page.reverse()
    }
  }

  const head = async () => Number(await events.head())

  /** Revision of the first event that readers of a stream see. */
  const firstVisible = ({ hiddenBefore, last, maxCount }: StreamState) =>
    Math.max(hiddenBefore, last - maxCount + 1)

  /** Removes all records that readers of their stream do not see, except the last one of each stream. */
  const scavenge = async (): Promise<void> => {
    const metastreams = new Set<string>()
    for await (const { stream } of readForwards(0)) if (stream.startsWith('$$')) metastreams.add(stream)
    const file = new DatabaseSync(path)
    const erase = file.prepare('DELETE FROM events WHERE stream = ? AND revision < ?')
    for (const metastream of metastreams) {
      const stream = metastream.slice('$$'.length)
      const state = await stateOf(stream)
      erase.run(stream, Math.min(firstVisible(state), state.last))
      erase.run(metastream, (await stateOf(metastream)).last)
    }
    file.close()
  }

  return {
    arrived,
    /** Stream, expected revision and event ids of the appends that are under way. */
    underWay: new Set<string>(),
    scavenge,
    append,
    readStream,
    readForwards,
    readBackwards,
    head,
    /** All events after a sequence number, and later ones. `caughtUp` follows the events that existed shortly before. */
    async *follow(after: number, signal: AbortSignal) {
      for await (const item of events.subscribe({ after: placeToEmbedded(after), signal })) {
        if (item.kind === 'event') yield { kind: 'event' as const, event: toLogged(item.event) }
        else yield { kind: 'caughtUp' as const, place: placeOf(item) }
      }
    },
    /** Hides the events of a stream. Its revisions continue after them. */
    async softDelete(stream: string, expected: Expected, id: string): Promise<Appended> {
      await checked(stream, expected)
      return saveSettings(stream, { $tb: SOFT_DELETED }, id)
    },
    /** Deletes a stream permanently. */
    async tombstone(stream: string, expected: Expected, id: string): Promise<Appended> {
      const { last } = await checked(stream, expected)
      const nothing = Buffer.alloc(0)
      const proposal = { id, type: TOMBSTONE, isJson: false, data: nothing, metadata: nothing }
      return append(stream, [proposal], last < 0 ? 'no_stream' : last)
    },
    close: () => events.close(),
  }

  async function checked(stream: string, expected: Expected): Promise<StreamState> {
    const state = await stateOf(stream)
    if (state.tombstoned) throw new StreamDeleted(stream)
    const fits =
      expected === 'any' ||
      (expected === 'stream_exists' && state.last >= 0) ||
      (expected === 'no_stream' ? state.last < 0 : expected === state.last)
    if (!fits) throw new WrongExpectedVersion(stream, expected, state.last)
    return state
  }
}

export type Log = ReturnType<typeof openLog>

/** Positions of the embedded event store are consecutive numbers from 1. */
export const placeOf = ({ position }: Pick<Appended, 'position'>) => Number(position)
const placeToEmbedded = (place: number) => (place === 0 ? START : String(place))

/** Content as it was sent: parsed when it is JSON, else as bytes. */
type Content = { json: Json } | { bytes: string }

const toContent = (isJson: boolean, bytes: Buffer): Content => {
  if (!isJson) return { bytes: bytes.toString('base64') }
  try {
    return { json: JSON.parse(bytes.toString()) }
  } catch {
    return { bytes: bytes.toString('base64') }
  }
}
const fromContent = (content: Content): Buffer =>
  'json' in content ? Buffer.from(JSON.stringify(content.json)) : Buffer.from(content.bytes, 'base64')

/** The metadata that the embedded event store asks for. Those that a client sent are part of the data. */
const STORED = { actor: { id: null, name: 'stand-in' }, requestId: '', at: new Date(0).toISOString() }

const toEmbedded = ({ id, type, isJson, data, metadata }: Proposal): NewEvent => ({
  id: id.toLowerCase(),
  type,
  data: { isJson, ...toContent(isJson, data), metadata: toContent(true, metadata) },
  metadata: STORED,
})

const toLogged = (event: RecordedEvent): Logged => ({
  id: event.id,
  type: event.type,
  stream: event.stream,
  revision: event.revision,
  place: placeOf(event),
  created: new Date(event.recordedAt),
  isJson: event.data.isJson === true,
  data: fromContent(event.data as Content),
  metadata: fromContent(event.data.metadata as Content),
})

const settingsOf = ({ data }: RecordedEvent) =>
  (data as { json?: JsonObject }).json as { $tb?: number; $maxCount?: number }
