import { requestRebuild } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import type { ReadModels } from '@gantry/read-models'

/** Subject of the requests from the command to the running service: start a rebuild, or return its progress. */
const SUBJECT = 'standalone.rebuild'

export interface Rebuilding {
  /** Names of projectors that have finished. */
  done: string[]
  waiting: string[]
}

/** Requests a rebuild from the projectors. @returns function that reads their progress */
export async function rebuildAll(
  projectors: readonly string[],
  readModels: ReadModels,
  id: string,
): Promise<() => Promise<Rebuilding>> {
  const finished = await Promise.all(projectors.map(name => requestRebuild(name, readModels, id)))
  return async () => {
    const states = await Promise.all(finished.map(isDone => isDone()))
    return {
      done: projectors.filter((_, index) => states[index]),
      waiting: projectors.filter((_, index) => !states[index]),
    }
  }
}

/** Answers the command, which runs in another process and cannot use the stores of this one. */
export function answerRebuilds(bus: Bus, projectors: readonly string[], readModels: ReadModels): () => void {
  const reports = new Map<string, () => Promise<Rebuilding>>()
  return bus.respond(SUBJECT, async request => {
    const { id } = request as { id: string }
    let report = reports.get(id)
    if (!report) {
      report = await rebuildAll(projectors, readModels, id)
      reports.set(id, report)
    }
    return { ...(await report()) }
  })
}

/** Requests a rebuild of the running service; a repeated id returns its progress. @throws NoResponder, RequestTimeout */
export const askForRebuild = async (bus: Bus, id: string): Promise<Rebuilding> =>
  (await bus.request(SUBJECT, { id }, { timeoutMs: 5_000 })) as unknown as Rebuilding
