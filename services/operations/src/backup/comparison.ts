import { EVENT_SERVICES, subjects } from '@gantry/contracts'
import {
  LOG_IDENTITY,
  LOG_OF_MODELS,
  LOG_POSITION,
  logIdentity,
  readModelStates,
  relaysOf,
  START,
} from '@gantry/event-sourcing'
import { digestInKey, referencedBytes } from '@gantry/media'
import type { ServicesInstallation } from '../installation.ts'

export interface Comparison {
  /** Position of the last event of the log. */
  head: string
  /** A line for each read model, relay or bus that has events which the log lacks, or belongs to another log. */
  foreign: string[]
  /** SHA-256 of missing bytes of images and documents. */
  missingBytes: string[]
}

/** A text that names what has reached a position, e.g. `catalog.relay is at position 12`. */
interface Reached {
  position: string
  /** Identity of its log, where it tells one. */
  log?: string | undefined
  text: string
}

/**
 * Compares the positions of read models, relays and bus with the end of the log, and looks for the bytes of images
 * and documents.
 */
export async function compareWithLog(installation: ServicesInstallation): Promise<Comparison> {
  const { eventStore, projectors, readModels } = installation
  const log = await readModels.checkpoints.get(LOG_OF_MODELS)
  const reached: Reached[] = [{ position: START, log, text: 'the read models' }]
  for (const { name, position } of await readModelStates(installation)())
    reached.push({ position, text: `the read models of ${name} are at position ${position}` })
  for (const relay of relaysOf(projectors)) {
    const position = await readModels.checkpoints.get(relay)
    if (position) reached.push({ position, text: `${relay} is at position ${position}` })
  }
  reached.push(...(await lastMessages(installation)))
  // Read last: the log may grow meanwhile.
  const head = await eventStore.head()
  const identity = await logIdentity(eventStore)
  const foreign = reached.flatMap(({ position, log = identity, text }) => {
    if (log !== identity) return `${text}, of a log that was replaced`
    return position > head ? `${text}, after the end of the log` : []
  })
  return { head, foreign, missingBytes: await missingBytes(installation) }
}

async function lastMessages({ bus }: ServicesInstallation): Promise<Reached[]> {
  const reached: Reached[] = []
  for (const service of EVENT_SERVICES) {
    const last = await bus.last([subjects.events(service, '*')])
    const position = last?.headers?.[LOG_POSITION]
    if (last && position) {
      const message = `message ${last.sequence} of the bus (${last.subject})`
      reached.push({
        position,
        log: last.headers?.[LOG_IDENTITY],
        text: `${message} is about the event at position ${position}`,
      })
    }
  }
  return reached
}

async function missingBytes({ eventStore, blobs }: ServicesInstallation): Promise<string[]> {
  const { live: missing } = await referencedBytes(eventStore)
  for await (const key of blobs.keys()) missing.delete(digestInKey(key))
  return [...missing]
}
