import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Write } from '@gantry/read-models'
import { describe, expect, test } from 'vitest'
import type { Decider, DomainCommand } from '../decider.ts'
import type { DomainEvent, RecordedEvent } from '../event.ts'
import { type EventStore, NO_STREAM } from '../event-store.ts'
import { folding, type Snapshot } from '../fold.ts'
import { aggregateProjection, type Project } from '../projection.ts'
import { schemaName } from '../schema.ts'
import type { SnapshotSchema } from '../snapshots.ts'
import { streamCategory } from '../stream-name.ts'

/**
 * Streams that one commit of this repository wrote: a file `COMMIT.streams.json`. It is never edited, only added.
 *
 * A change that lets a service write an event type, a schema version, a field or a value that the streams of its category
 * do not have adds a file: run that commit, and copy whole streams from its log with ids, times and metadata. Then
 * `vitest run src/frozen-streams.test.ts -u` writes `COMMIT.folded.json`, with what the streams become: check it by hand.
 * Such a file changes only where states or documents are meant to change; the diff shows what becomes of existing logs.
 *
 * Where states are kept in snapshots, `COMMIT.snapshots-VERSION.json` has those of a schema version. It is written by
 * the first run with `-u` that finds none, and never changed after the first release that has it: another content needs another
 * version.
 *
 * The streams are from services with an `ENCRYPTION_KEY` of 32 bytes of 7; no secret of theirs is in use anywhere.
 */
export interface FrozenStreams {
  source: {
    commit: string
    /** How the events came to be, and which of them were written by hand. */
    made: string
  }
  /** Each from its first event, as it was stored. */
  streams: RecordedEvent[][]
}

export interface FrozenCategory<State, Command extends DomainCommand, Event extends DomainEvent> {
  /** Of the service: its folder `CATEGORY` has the files. */
  folder: string
  category: string
  decider: Decider<State, Command, Event>
  /** Left out for an aggregate that has no readers. */
  project?: Project<State, Event>
  /** Left out for an aggregate whose states are not kept in snapshots. */
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

/** Appends the frozen streams of a commit to a log, of the categories that it has. */
export async function appendFrozenStreams(
  eventStore: EventStore,
  folder: string,
  commit: string,
  categories: readonly string[],
): Promise<void> {
  const streams = categories.flatMap(category => frozenStreams(folder, category).get(commit)?.streams ?? [])
  await Promise.all(streams.map(stream => eventStore.append(stream[0]?.stream ?? '', stream, NO_STREAM)))
}

/**
 * Registers the tests of a category: its frozen streams become the states and documents that are written beside them,
 * and they have every event type that the decider knows, in every schema version, and no other.
 */
export function testFrozenStreams<State, Command extends DomainCommand, Event extends DomainEvent>(
  options: FrozenCategory<State, Command, Event>,
): void {
  const { category, folder, decider } = options
  const files = frozenStreams(folder, category)
  const events = [...files.values()].flatMap(({ streams }) => streams.flat())

  describe(`frozen streams of ${category}`, () => {
    test.for([...files.keys()])('of %s become what is written beside them', async commit => {
      const folded = []
      for (const stream of files.get(commit)?.streams ?? []) folded.push(await fold(stream, options))
      await expect(`${JSON.stringify(folded, mapsAsEntries, 2)}\n`).toMatchFileSnapshot(
        join(folder, category, `${commit}.folded.json`),
      )
    })

    if (options.snapshots) testSnapshots({ ...options, snapshots: options.snapshots })

    test('have every event type that the decider knows, in every schema version, and no other', () => {
      const known = Object.entries<readonly unknown[]>(decider.events).flatMap(([type, upcasters]) =>
        Array.from({ length: upcasters.length + 1 }, (_, index) => `${type}@${index + 1}`),
      )
      expect([...new Set(events.map(schemaName))].toSorted()).toEqual(known.toSorted())
    })

    test('are whole streams of the category', () => {
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
  const begun: Snapshot<State> = { state: decider.initial, revision: NO_STREAM }
  const asJson = (state: State) => JSON.parse(JSON.stringify(state, mapsAsEntries))

  test.for([...files.keys()])('of %s have the snapshots of this schema version beside them', async commit => {
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

  test.for([...files.keys()])('of %s fold alike from a snapshot of any of their events', commit => {
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

/** The state of a stream, and its documents once its events were projected one by one. */
async function fold<State, Command extends DomainCommand, Event extends DomainEvent>(
  stream: readonly RecordedEvent[],
  { category, decider, project }: FrozenCategory<State, Command, Event>,
) {
  const unknown: string[] = []
  const folded = folding(decider, event => unknown.push(schemaName(event)))
  let snapshot: Snapshot<State> = { state: decider.initial, revision: NO_STREAM }
  const projection = aggregateProjection<State, Event>({
    category,
    schemas: decider.events,
    view: project && { readModels: { async write() {} }, project },
    follow: async () => snapshot,
    load: async () => snapshot,
    read: async () => [],
    cacheSize: 1,
  })
  const documents = new Map<string, { collection: string } & Pick<Write, 'id' | 'revision' | 'doc'>>()
  for (const event of stream) {
    snapshot = folded(snapshot, [event])
    for (const { collection, id, revision, doc } of (await projection.writes([event], true)).writes)
      documents.set(`${collection.name}/${id}`, { collection: collection.name, id, revision, doc })
  }
  expect(unknown).toEqual([])
  const { state, revision } = snapshot
  return { stream: stream[0]?.stream, state, revision, documents: [...documents.values()] }
}

const mapsAsEntries = (_: string, value: unknown) => (value instanceof Map ? [...value] : value)
