import type { CollectionDefinition, Document, Write } from '@gantry/read-models'
import { expect } from 'vitest'
import type { Decider, DomainCommand } from '../decider.ts'
import type { DomainEvent, JsonObject, RecordedEvent } from '../event.ts'
import { NO_STREAM } from '../event-store.ts'
import { folding } from '../fold.ts'
import { type Project, type Projection, writesOf } from '../projection.ts'
import { writtenVersion } from '../schema.ts'
import { storyMetadata } from './decider-story.ts'

/** A document and its collection. */
export interface ExpectedDocument {
  collection: string
  doc: Document
}

/** A document that a projection is expected to make. */
export const documentIn = <D extends Document>(
  { name }: CollectionDefinition<D>,
  doc: D,
): ExpectedDocument => ({ collection: name, doc })

/**
 * Tests the projection of an aggregate: `projecting(decider, project, id).given(a, b).then(documentIn(apis, doc))`.
 * The documents must be the same when the events are projected one by one, all together, and each one again.
 */
export function projecting<State, Command extends DomainCommand, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
  project: Project<State, Event>,
  id: string,
) {
  const fold = folding(decider, () => {})
  const empty = { state: decider.initial, revision: NO_STREAM }
  return {
    given(...events: Event[]) {
      const stream = events.map((event, revision) => {
        const schemaVersion = writtenVersion(decider.events, event.type)
        return recorded({
          type: event.type,
          data: event.data as JsonObject,
          revision,
          metadata: { ...metadata, schemaVersion },
        })
      })
      const last = fold(empty, stream)
      const writes = (through: number) => {
        const state = fold(empty, stream.slice(0, through + 1))
        return writesOf(project, decider.events, id, state, stream.slice(through, through + 1))
      }
      const oneByOne = stream.flatMap((_, revision) => writes(revision))
      const together = writesOf(project, decider.events, id, last, stream)
      return {
        /** Exactly these documents, in any order; none means that there is no document. */
        // biome-ignore lint/suspicious/noThenProperty: the name is from given/when/then; stories are not awaited
        then(...expected: ExpectedDocument[]) {
          expect(documentsOf(oneByOne), 'one by one').toEqual(sorted(expected))
          expect(documentsOf(together), 'all together').toEqual(sorted(expected))
          expect(documentsOf([...oneByOne, ...oneByOne]), 'again').toEqual(sorted(expected))
        },
      }
    },
  }
}

/** Tests a projection of single events: `projectingEach(projection).given(a, b).then(documentIn(auditLog, doc))`. */
export function projectingEach(projection: Projection) {
  return {
    given(...events: GivenEvent[]) {
      return {
        /** Exactly these documents, in any order; none means that there is no document. */
        // biome-ignore lint/suspicious/noThenProperty: the name is from given/when/then, and the result is a promise
        async then(...expected: ExpectedDocument[]) {
          const { writes } = await projection.writes(events.map(recorded), false)
          expect(documentsOf(writes)).toEqual(sorted(expected))
        },
      }
    },
  }
}

const { actor, requestId, now: at } = storyMetadata
const metadata = { actor, requestId, at }

type GivenEvent = Pick<RecordedEvent, 'type'> & Partial<RecordedEvent>

const recorded = (event: GivenEvent): RecordedEvent => ({
  id: `event-${event.revision ?? 0}`,
  stream: 'story-1',
  revision: 0,
  position: String(event.revision ?? 0).padStart(8, '0'),
  recordedAt: at,
  data: {},
  metadata,
  ...event,
})

/** The documents after the writes, each guarded by its revision as in a store. */
function documentsOf(writes: readonly Write[]): ExpectedDocument[] {
  const latest = new Map<string, Write>()
  for (const write of writes) {
    const key = `${write.collection.name}/${write.id}`
    const before = latest.get(key)
    if (!before || before.revision < write.revision) latest.set(key, write)
  }
  return sorted(
    [...latest.values()].flatMap(({ id, collection, doc }) => {
      if (doc) expect(doc.id).toBe(id)
      return doc ? { collection: collection.name, doc } : []
    }),
  )
}

const keyOf = ({ collection, doc }: ExpectedDocument) => `${collection}/${doc.id}`
const sorted = (documents: readonly ExpectedDocument[]) =>
  documents.toSorted((one, other) => keyOf(one).localeCompare(keyOf(other)))
