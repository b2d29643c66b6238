import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '@gantry/messaging'
import type { Write } from '@gantry/stores'
import { describe, expect, test } from 'vitest'
import type { Decider, DomainCommand } from '../commands/decider.ts'
import { type DomainEvent, type RecordedEvent, schemaName, streamCategory, streamId } from '../log/event.ts'
import { NO_STREAM } from '../log/event-store.ts'
import { folding, type StreamState } from '../log/fold.ts'
import type { SnapshotSchema } from '../log/snapshots.ts'
import { type Project, writesOf } from '../projections/projection.ts'

/**
 * Streams of a category as a release writes them, in a file `CATEGORY.json`. Once a release has written such streams, they
 * never change: streams are only added.
 *
 * A change that lets a service write an event type, a schema version, a field or a value that the streams of its category
 * do not have adds whole streams: from a log that the changed service wrote, or from commands that its aggregate carried out,
 * with ids, times and metadata. Then the test of the aggregate, with `-u`, adds `folded`: check it by hand. It only changes
 * when states or documents are meant to change; its diff shows the effect on existing logs.
 *
 * The streams are from services with an `ENCRYPTION_KEY` of 32 bytes of 7. None of their secrets is in use.
 */
export interface FrozenStreams {
  /** How the events were produced. */
  made: string
  /** What opens encrypted fields, for `opened` of the category. */
  keys?: unknown
  /** Whole streams from their first event, as they were stored. */
  streams: RecordedEvent[][]
  /** The state and the documents that each stream results in; absent for streams that no decider folds. */
  folded?: unknown[]
  /**
   * The states as snapshots of this schema version contain them, by stream, for an aggregate with snapshots. They never
   * change after the first release that has the version: other content needs another version.
   */
  snapshots?: { version: number; states: Record<string, unknown> }
}

export interface FrozenCategory<State, Command extends DomainCommand, Event extends DomainEvent> {
  /** Folder of the service with its files `CATEGORY.json`. */
  folder: string
  category: string
  decider: Decider<State, Command, Event>
  /** Left out for an aggregate without documents. */
  project?: Project<State, Event>
  /** Decrypts an event, for a category whose streams have encrypted fields. */
  opened?(event: RecordedEvent): Promise<RecordedEvent>
  /** Left out for an aggregate without snapshots. */
  snapshots?: SnapshotSchema<State>
}

const fileOf = (folder: string, category: string) => join(folder, `${category}.json`)

/** The frozen streams of a category. */
export const frozenStreams = (folder: string, category: string): FrozenStreams =>
  JSON.parse(readFileSync(fileOf(folder, category), 'utf8'))

/**
 * Registers the tests of a category: its frozen streams fold to the states and documents in their file, and they have
 * exactly the event types and schema versions that the decider knows.
 */
export function testFrozenStreams<State, Command extends DomainCommand, Event extends DomainEvent>(
  options: FrozenCategory<State, Command, Event>,
): void {
  const { category, folder, decider } = options
  const file = frozenStreams(folder, category)
  const { streams } = file

  describe(`frozen streams of ${category}`, () => {
    test('fold to what their file contains', async () => {
      const folded = []
      for (const stream of streams) folded.push(await fold(stream, options))
      const snapshots = options.snapshots && snapshotsOf(file, decider, options.snapshots)
      const now = printed(asJson({ ...file, folded, snapshots }))
      await expect(`${now}\n`).toMatchFileSnapshot(fileOf(folder, category))
    })

    if (options.snapshots) testSnapshots(file, decider, options.snapshots)

    test('have exactly the event types and schema versions that the decider knows', () => {
      const known = Object.entries<readonly unknown[]>(decider.events).flatMap(([type, upcasters]) =>
        Array.from({ length: upcasters.length + 1 }, (_, index) => `${type}@${index + 1}`),
      )
      expect([...new Set(streams.flat().map(schemaName))].toSorted()).toEqual(known.toSorted())
    })

    test('are complete streams of the category', () => {
      for (const stream of streams) {
        expect(stream.map(({ revision }) => revision)).toEqual([...stream.keys()])
        expect(new Set(stream.map(event => event.stream)).size).toBe(1)
      }
      expect([...new Set(streams.flat().map(event => streamCategory(event.stream)))]).toEqual([category])
    })
  })
}

/** The snapshots of the streams; those in the file must not have other states in the same schema version. */
function snapshotsOf<State, Command extends DomainCommand, Event extends DomainEvent>(
  { streams, snapshots: stored }: FrozenStreams,
  decider: Decider<State, Command, Event>,
  { version, encode }: SnapshotSchema<State>,
) {
  const folded = folding(decider, () => {})
  const begun: StreamState<State> = { state: decider.initial, revision: NO_STREAM }
  const states = Object.fromEntries(
    streams.map(stream => [stream[0]?.stream, asJson(encode(folded(begun, stream).state))]),
  )
  if (stored?.version === version) {
    const message = 'states differ from those in snapshots: raise the schema version of the snapshots'
    expect({ ...states, ...stored.states }, message).toEqual(states)
  }
  return { version, states }
}

function testSnapshots<State, Command extends DomainCommand, Event extends DomainEvent>(
  { streams }: FrozenStreams,
  decider: Decider<State, Command, Event>,
  snapshots: SnapshotSchema<State>,
): void {
  const folded = folding(decider, () => {})
  const begun: StreamState<State> = { state: decider.initial, revision: NO_STREAM }

  test('fold to one state from a snapshot at any revision', () => {
    for (const stream of streams) {
      const whole = folded(begun, stream)
      for (const [index, { revision }] of stream.entries()) {
        const { state } = folded(begun, stream.slice(0, index + 1))
        const stored = JSON.parse(JSON.stringify(snapshots.encode(state)))
        const rest = folded({ state: snapshots.decode(stored), revision }, stream.slice(index + 1))
        expect(asJson(rest.state)).toEqual(asJson(whole.state))
      }
    }
  })
}

/** The state of a stream, and its documents after its events were projected one by one. */
async function fold<State, Command extends DomainCommand, Event extends DomainEvent>(
  stream: readonly RecordedEvent[],
  { decider, project, opened = async event => event }: FrozenCategory<State, Command, Event>,
) {
  const unknown: string[] = []
  const folded = folding(decider, event => unknown.push(schemaName(event)))
  let current: StreamState<State> = { state: decider.initial, revision: NO_STREAM }
  const documents = new Map<string, { collection: string } & Pick<Write, 'id' | 'revision' | 'doc'>>()
  for (const stored of stream) {
    const event = await opened(stored)
    current = folded(current, [event])
    const writes = project ? writesOf(project, decider.events, streamId(event.stream), current, [event]) : []
    for (const { collection, id, revision, doc } of writes)
      documents.set(`${collection.name}/${id}`, { collection: collection.name, id, revision, doc })
  }
  expect(unknown).toEqual([])
  const { state, revision } = current
  return { stream: stream[0]?.stream, state, revision, documents: [...documents.values()] }
}

/** A value as JSON has it, with maps as their entries. */
const asJson = (value: unknown): Json =>
  JSON.parse(JSON.stringify(value, (_, part: unknown) => (part instanceof Map ? [...part] : part)))

const isRecord = (value: Json): boolean =>
  typeof value === 'object' && value !== null && (!Array.isArray(value) || value.some(isRecord))

/** JSON with an indent of two, and with each object that contains no other object on one line. */
function printed(value: Json, indent = ''): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const inner = `${indent}  `
  const [open, items, close] = Array.isArray(value)
    ? ['[', value.map(item => printed(item, inner)), ']']
    : [
        '{',
        Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${printed(item, inner)}`),
        '}',
      ]
  if (!Object.values(value).some(isRecord)) return `${open}${items.join(', ')}${close}`
  return `${open}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close}`
}
