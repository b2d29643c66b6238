import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Write } from '@gantry/read-models'
import { describe, expect, test } from 'vitest'
import type { Decider, DomainCommand } from '../decider.ts'
import type { DomainEvent, RecordedEvent } from '../event.ts'
import { NO_STREAM } from '../event-store.ts'
import { folding, type StreamState } from '../fold.ts'
import { type Project, writesOf } from '../projection.ts'
import { schemaName } from '../schema.ts'
import type { SnapshotSchema } from '../snapshots.ts'
import { streamCategory, streamId } from '../stream-name.ts'

/**
 * Streams that one commit of this repository wrote, in a file `COMMIT.streams.json`. Such files are only added, and their
 * streams never change.
 *
 * A change that lets a service write an event type, a schema version, a field or a value that the streams of its category
 * do not have adds a file: run that commit, and copy whole streams from its log with ids, times and metadata. Then the
 * test of the aggregate, with `-u`, adds `folded`: check it by hand. It only changes when states or documents are meant
 * to change; its diff shows the effect on existing logs.
 *
 * When states are stored in snapshots, `COMMIT.snapshots-VERSION.json` has those of a schema version. The first run with
 * `-u` without that file writes it. It never changes after the first release that has it: other content needs another
 * version.
 *
 * Streams with encrypted fields need the keys, in a file beside them, and `opened` of the category.
 *
 * The streams are from services with an `ENCRYPTION_KEY` of 32 bytes of 7. None of their secrets is in use.
 */
export interface FrozenStreams {
  source: {
    commit: string
    /** How the events were produced, and which of them were written by hand. */
    made: string
  }
  /** Whole streams from their first event, as they were stored. */
  streams: RecordedEvent[][]
  /** The state and the documents that each stream results in; absent for streams that no decider folds. */
  folded?: unknown[]
}

export interface FrozenCategory<State, Command extends DomainCommand, Event extends DomainEvent> {
  /** Folder of the service; the files are in its subfolder `CATEGORY`. */
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

const STREAMS = '.streams.json'

/** The frozen streams of a category, by commit. */
export function frozenStreams(folder: string, category: string): Map<string, FrozenStreams> {
  const names = readdirSync(join(folder, category)).filter(name => name.endsWith(STREAMS))
  return new Map(
    names.map(name => [
      name.slice(0, -STREAMS.length),
      JSON.parse(readFileSync(join(folder, category, name), 'utf8')) as FrozenStreams,
    ]),
  )
}

/**
 * Registers the tests of a category: its frozen streams fold to the states and documents in their file, and they have
 * exactly the event types and schema versions that the decider knows.
 */
export function testFrozenStreams<State, Command extends DomainCommand, Event extends DomainEvent>(
  options: FrozenCategory<State, Command, Event>,
): void {
  const { category, folder, decider } = options
  const files = frozenStreams(folder, category)
  const events = [...files.values()].flatMap(({ streams }) => streams.flat())

  describe(`frozen streams of ${category}`, () => {
    test.for([...files.keys()])('of %s fold to what their file contains', async commit => {
      const { source, streams } = files.get(commit) as FrozenStreams
      const folded = []
      for (const stream of streams) folded.push(await fold(stream, options))
      await expect(`${JSON.stringify({ source, streams, folded }, mapsAsEntries, 2)}\n`).toMatchFileSnapshot(
        join(folder, category, commit + STREAMS),
      )
    })

    if (options.snapshots) testSnapshots({ ...options, snapshots: options.snapshots })

    test('have exactly the event types and schema versions that the decider knows', () => {
      const known = Object.entries<readonly unknown[]>(decider.events).flatMap(([type, upcasters]) =>
        Array.from({ length: upcasters.length + 1 }, (_, index) => `${type}@${index + 1}`),
      )
      expect([...new Set(events.map(schemaName))].toSorted()).toEqual(known.toSorted())
    })

    test('are complete streams of the category', () => {
      for (const stream of [...files.values()].flatMap(({ streams }) => streams)) {
        expect(stream.map(({ revision }) => revision)).toEqual([...stream.keys()])
        expect(new Set(stream.map(event => event.stream)).size).toBe(1)
      }
      expect([...new Set(events.map(event => streamCategory(event.stream)))]).toEqual([category])
    })
  })
}

function testSnapshots<State, Command extends DomainCommand, Event extends DomainEvent>({
  category,
  folder,
  decider,
  snapshots,
}: FrozenCategory<State, Command, Event> & { snapshots: SnapshotSchema<State> }): void {
  const files = frozenStreams(folder, category)
  const folded = folding(decider, () => {})
  const begun: StreamState<State> = { state: decider.initial, revision: NO_STREAM }
  const asJson = (state: State) => JSON.parse(JSON.stringify(state, mapsAsEntries))

  test.for([...files.keys()])('of %s have the snapshots in the file of this schema version', async commit => {
    const encoded = (files.get(commit)?.streams ?? []).map(stream => ({
      stream: stream[0]?.stream,
      state: snapshots.encode(folded(begun, stream).state),
    }))
    const file = join(folder, category, `${commit}.snapshots-${snapshots.version}.json`)
    const now = `${JSON.stringify(encoded, null, 2)}\n`
    if (!existsSync(file)) return expect(now).toMatchFileSnapshot(file)
    expect(now, 'states differ from those in snapshots: raise the schema version of the snapshots').toBe(
      readFileSync(file, 'utf8'),
    )
  })

  test.for([...files.keys()])('of %s fold to one state from a snapshot at any revision', commit => {
    for (const stream of files.get(commit)?.streams ?? []) {
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

const mapsAsEntries = (_: string, value: unknown) => (value instanceof Map ? [...value] : value)
