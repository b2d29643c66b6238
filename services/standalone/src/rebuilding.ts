import type { EventStore } from '@gantry/event-sourcing'
import { joinRebuild, type ReadModelState, readModelStates } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import type { ReadModels } from '@gantry/stores'

/** Subject of the requests from the command to the running service: start a rebuild, or return its progress. */
const SUBJECT = 'standalone.rebuild'

export interface Rebuilding {
  /** Names of projectors that have finished. */
  done: string[]
  waiting: string[]
  /** The read models of all projectors. */
  states: ReadModelState[]
}

interface Stores {
  readModels: ReadModels
  eventStore: Pick<EventStore, 'head' | 'readAll'>
}

/** Requests a rebuild from the projectors; one that is under way is joined. @returns function that reads their progress */
export async function rebuildAll(
  projectors: readonly string[],
  { readModels, eventStore }: Stores,
  id: string,
): Promise<() => Promise<Rebuilding>> {
  const finished = await Promise.all(projectors.map(name => joinRebuild(name, readModels, id)))
  const readStates = readModelStates({ readModels, eventStore })
  return async () => {
    const done = await Promise.all(finished.map(isDone => isDone()))
    return {
      done: projectors.filter((_, index) => done[index]),
      waiting: projectors.filter((_, index) => !done[index]),
      states: await readStates(projectors),
    }
  }
}

/** Number of the last requests whose progress can still be read. */
const REMEMBERED = 20

/** Answers the command, which runs in another process and cannot use the stores of this one. */
export function answerRebuilds(bus: Bus, projectors: readonly string[], stores: Stores): () => void {
  const reports = new Map<string, () => Promise<Rebuilding>>()
  return bus.respond(SUBJECT, async request => {
    const { id } = request as { id: string }
    let report = reports.get(id)
    if (!report) {
      report = await rebuildAll(projectors, stores, id)
      reports.set(id, report)
      for (const earlier of [...reports.keys()].slice(0, -REMEMBERED)) reports.delete(earlier)
    }
    return JSON.parse(JSON.stringify(await report()))
  })
}

/** Requests a rebuild of the running service; a repeated id returns its progress. @throws NoResponder, RequestTimeout */
export const askForRebuild = async (bus: Bus, id: string): Promise<Rebuilding> =>
  (await bus.request(SUBJECT, { id }, { timeoutMs: 5_000 })) as unknown as Rebuilding
