import type { ReadModelState, ServiceRequest } from '@gantry/contracts'
import { type EventStore, readModelStates, requestRebuild } from '@gantry/event-sourcing'
import type { Peers } from '@gantry/service-runtime'
import type { ReadModels } from '@gantry/stores'
import { z } from 'zod'

export interface Rebuilding {
  /** Names of projectors that have finished. */
  done: string[]
  waiting: string[]
  states: ReadModelState[]
}

interface Stores {
  readModels: ReadModels
  eventStore: Pick<EventStore, 'head' | 'readAll'>
}

/** Requests a rebuild from the projectors, or joins one that is under way. @returns a function that reads their progress */
export async function rebuildAll(
  projectors: readonly string[],
  { readModels, eventStore }: Stores,
  id: string,
): Promise<() => Promise<Rebuilding>> {
  const finished = await Promise.all(projectors.map(name => requestRebuild(name, readModels, id)))
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

/** Request of the command to the running service: starts a rebuild; a repeated id returns its progress. */
export const rebuilding = {
  service: 'standalone',
  id: 'standalone.rebuild',
  asked: z.object({ id: z.string() }),
  answer: z.custom<Rebuilding>(),
  timeoutMs: 5_000,
} satisfies ServiceRequest

/** Number of the last requests whose progress can still be read. */
const REMEMBERED = 20

/** Answers the command, which runs in another process and cannot use the stores of this one. */
export function answerRebuilds(peers: Peers, projectors: readonly string[], stores: Stores): () => void {
  const reports = new Map<string, () => Promise<Rebuilding>>()
  return peers.answer(rebuilding, async ({ id }) => {
    let report = reports.get(id)
    if (!report) {
      report = await rebuildAll(projectors, stores, id)
      reports.set(id, report)
      for (const earlier of [...reports.keys()].slice(0, -REMEMBERED)) reports.delete(earlier)
    }
    return report()
  })
}
