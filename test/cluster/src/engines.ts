import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findNats } from '@gantry/engines'
import type { ClusterSettings } from './settings.ts'

/** The engines that the processes have together. */
export interface Engines {
  urls: { EVENT_STORE_URL: string; READ_MODEL_URL: string; MESSAGING_URL: string; BLOB_URL?: string }
  /** For the person who starts the cluster: which engine is real, and what stands in for which. */
  descriptions: [engine: string, description: string][]
  stop(): Promise<void>
}

/** Takes the engines that the settings name, starts what can be had, and has files stand in for the others. */
export async function startEngines({ dataFolder, urls }: ClusterSettings): Promise<Engines> {
  const bus = await startBus(dataFolder, urls.messaging)
  const log = urls.eventStore ?? `sqlite:${join(dataFolder, 'events.db')}`
  const views = urls.readModels ?? `sqlite:${join(dataFolder, 'read-models.db')}`
  const blobs = urls.blobs ?? (views.startsWith('sqlite:') ? `file:${join(dataFolder, 'images')}` : undefined)
  return {
    urls: {
      EVENT_STORE_URL: log,
      READ_MODEL_URL: views,
      MESSAGING_URL: bus.url,
      ...(blobs && { BLOB_URL: blobs }),
    },
    descriptions: [
      ['event log', described(log, 'EventStoreDB', 'EVENT_STORE_URL=esdb://host:2113?tls=false')],
      ['read models', described(views, 'MongoDB', 'READ_MODEL_URL=mongodb://host:27017/gantry')],
      ['bus', bus.description],
      ['images', blobs?.startsWith('file:') ? 'a folder, in place of GridFS' : 'GridFS, real'],
    ],
    stop: bus.stop,
  }
}

const described = (url: string, engine: string, setting: string) =>
  url.startsWith('sqlite:')
    ? `stands in for ${engine}: one SQLite file for all processes (for the real one set ${setting})`
    : `real: the ${engine} of ${setting.split('=')[0]}`

async function startBus(dataFolder: string, given: string | undefined) {
  if (given !== undefined && !/^(nats|tls):/.test(given)) {
    return {
      url: given,
      description: 'stands in for NATS: one SQLite file for all processes',
      stop: async () => {},
    }
  }
  const found = await findNats()
  if (!found.found) {
    return {
      url: `sqlite:${join(dataFolder, 'messages.db')}`,
      description: `stands in for NATS: one SQLite file for all processes (for the real one ${found.how})`,
      stop: async () => {},
    }
  }
  const folder = join(dataFolder, 'nats')
  mkdirSync(folder, { recursive: true })
  // The last one counts: messages stay from run to run.
  const kept = found.kind === 'docker' ? [] : ['-sd', folder]
  const { url, stop } = await found.start({ args: kept })
  return { url, description: `real: ${found.description}, at ${url}`, stop }
}
