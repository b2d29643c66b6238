import { requestRebuild } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import type { ReadModels } from '@gantry/read-models'

/** What the service answers, and the command asks: to make the read models anew, and how far that is. */
const SUBJECT = 'standalone.rebuild'

export interface Rebuilding {
  /** Names of projectors that have finished. */
  done: string[]
  waiting: string[]
}

/** Asks the projectors to make their read models anew. @returns a look at how far they are */
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

/** Lets the command in another process ask this one, which alone may use the stores. */
export function answerRebuilds(bus: Bus, projectors: readonly string[], readModels: ReadModels): () => void {
  const looks = new Map<string, () => Promise<Rebuilding>>()
  return bus.respond(SUBJECT, async question => {
    const { id } = question as { id: string }
    let look = looks.get(id)
    if (!look) {
      look = await rebuildAll(projectors, readModels, id)
      looks.set(id, look)
    }
    return { ...(await look()) }
  })
}

/** Asks the running service, and how far it is when asked again with the same id. @throws NoResponder, RequestTimeout */
export const askForRebuild = async (bus: Bus, id: string): Promise<Rebuilding> =>
  (await bus.request(SUBJECT, { id }, { timeoutMs: 5_000 })) as unknown as Rebuilding
