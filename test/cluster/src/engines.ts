import { join } from 'node:path'
import {
  type Engine,
  type Found,
  findEventStore,
  findMongo,
  findNats,
  HOW_TO_HAVE_EVENT_STORE,
} from '@gantry/engines'
import type { ClusterSettings } from './settings.ts'

/** The stores that all processes share. */
export interface Engines {
  urls: { EVENT_STORE_URL: string; READ_MODEL_URL: string; MESSAGING_URL: string; BLOB_URL?: string }
  /** For the person who starts the cluster: which store is real and which is a substitute. */
  descriptions: [engine: string, description: string][]
  /** Faults that can be caused on stores that were started here. */
  faults: { eventStore?: Engine['faults']; readModels?: Engine['faults']; messaging?: Engine['faults'] }
  stop(): Promise<void>
}

/** The stores in one line, for the report of a test. */
export const describedEngines = ({ descriptions }: Engines): string =>
  descriptions.map(([engine, description]) => `${engine}: ${description}`).join('; ')

interface Wanted {
  /** URL from the settings. */
  url?: string
  find(): Promise<Found>
  /** Name of its folder or file. */
  name: string
  engine: string
}

/** Uses the stores from the settings, starts the others where possible, and replaces the rest by files. */
export async function startEngines({ dataFolder, urls }: ClusterSettings): Promise<Engines> {
  const running: Engine[] = []
  const stop = async () => void (await Promise.all(running.map(engine => engine.stop())))

  const start = async ({ url, find, name, engine }: Wanted) => {
    const instead = `stands in for ${engine}: one SQLite file for all processes`
    if (url?.startsWith('sqlite:')) return { url, description: instead }
    const found = await find()
    if (!found.found) {
      const file = `sqlite:${join(dataFolder, `${name}.db`)}`
      return { url: file, description: `${instead} (for the real one ${found.how})` }
    }
    const started = await found.start({ folder: join(dataFolder, name) })
    running.push(started)
    return { url: started.url, faults: started.faults, description: described(found, started.url) }
  }

  const starting = [
    start({ url: urls.messaging, find: () => findNats({ soon: true }), name: 'nats', engine: 'NATS' }),
    start({ url: urls.readModels, find: findMongo, name: 'read-models', engine: 'MongoDB' }),
    start({ url: urls.eventStore, find: findEventStore, name: 'events', engine: 'EventStoreDB' }),
  ] as const
  try {
    const [messaging, readModels, eventStore] = await Promise.all(starting)
    const files = readModels.url.startsWith('sqlite:')
    const blobs = urls.blobs ?? (files ? `file:${join(dataFolder, 'images')}` : undefined)
    return {
      urls: {
        EVENT_STORE_URL: eventStore.url,
        READ_MODEL_URL: readModels.url,
        MESSAGING_URL: messaging.url,
        ...(blobs && { BLOB_URL: blobs }),
      },
      descriptions: [
        ['event log', eventStore.description],
        ['read models', readModels.description],
        ['bus', messaging.description],
        ['images', describedBlobs(blobs)],
      ],
      faults: {
        eventStore: eventStore.faults,
        readModels: readModels.faults,
        messaging: messaging.faults,
      },
      stop,
    }
  } catch (error) {
    await Promise.allSettled(starting)
    await stop()
    throw error
  }
}

function describedBlobs(url: string | undefined): string {
  if (url?.startsWith('file:')) return 'a folder, in place of GridFS'
  return url?.startsWith('s3:') ? `S3, ${url}` : 'GridFS'
}

function described({ kind, description }: Found & { found: true }, url: string): string {
  // The URL of a setting may contain a password.
  if (kind === 'url') return `real: ${description}`
  if (kind === 'stand-in') return `${description}, at ${url} (for the real one ${HOW_TO_HAVE_EVENT_STORE})`
  const kept = kind === 'docker' ? ', whose data end with it' : ''
  return `real: ${description}, at ${url}${kept}`
}
