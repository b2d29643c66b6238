import type { ReadModelState } from '@gantry/contracts'
import type { Collection, ReadModels } from '@gantry/stores'
import { type Position, positionNumber, START } from '../log/event.ts'
import type { EventStore } from '../log/event-store.ts'
import { lagAfter } from '../log/lag.ts'
import { type HeldStream, heldStreams } from '../supervision/quarantine.ts'
import { listReadModels, type ReadModelRecord, type Rebuild } from './read-model-record.ts'
import { pendingRebuild } from './rebuild-requests.ts'

interface Stores {
  readModels: ReadModels
  eventStore: Pick<EventStore, 'head' | 'readAll'>
}

/**
 * @returns a function that reads the states of projectors that were ever started, in the order of their names: of all, or
 *   of those with one of the given names
 */
export function readModelStates(stores: Stores): (names?: readonly string[]) => Promise<ReadModelState[]> {
  const { readModels, eventStore } = stores
  // One definition object per projector and generation, because stores cache by it.
  const definitions = new Map<string, ReturnType<typeof heldStreams>>()
  const heldIn = ({ name, generation }: ReadModelRecord) => {
    const known = definitions.get(name)
    const definition = known?.generation === generation ? known : { ...heldStreams(name), generation }
    definitions.set(name, definition)
    return readModels.collection(definition)
  }
  return async names => {
    const [records, head, time] = await Promise.all([
      listReadModels(readModels),
      eventStore.head(),
      readModels.time(),
    ])
    const moment = { head, now: time.getTime() }
    const wanted = names ? records.filter(({ name }) => names.includes(name)) : records
    return Promise.all(wanted.map(record => stateOf(record, heldIn(record), stores, moment)))
  }
}

async function stateOf(
  record: ReadModelRecord,
  held: Collection<HeldStream>,
  { readModels, eventStore }: Stores,
  { head, now }: { head: Position; now: number },
): Promise<ReadModelState> {
  const { name, checkpoint, collections, generation, rebuild, lastRebuild, error } = record
  const [position = START, pending, quarantinedStreams, incompleteStreams] = await Promise.all([
    readModels.checkpoints.get(checkpoint),
    pendingRebuild(name, readModels),
    held.count({ where: { status: 'QUARANTINED' } }),
    held.count({ where: { status: 'INCOMPLETE' } }),
  ])
  return {
    name,
    service: name.split('.')[0] ?? name,
    collections: [...collections],
    generation,
    position,
    lagSeconds: (await lagAfter(eventStore, position, new Date(now))).seconds,
    status: rebuild ? 'BUILDING' : pending === undefined ? 'LIVE' : 'WAITING',
    rebuild: rebuild && progressOf(rebuild, head, now),
    lastRebuild,
    quarantinedStreams,
    incompleteStreams,
    error,
  }
}

function progressOf(
  { startedAt, updatedAt, events, eventsPerSecond, position }: Rebuild,
  head: Position,
  now: number,
) {
  const progress = Math.min(1, positionNumber(position) / Math.max(1, positionNumber(head)))
  const elapsed = now - Date.parse(startedAt)
  const estimatedEnd =
    progress > 0 ? new Date(Date.parse(startedAt) + elapsed / progress).toISOString() : null
  return { startedAt, updatedAt, events, eventsPerSecond, progress, estimatedEnd }
}
