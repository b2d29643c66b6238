import { hostname } from 'node:os'
import { fileURLToPath } from 'node:url'
import {
  type Disk,
  folderBlobStore,
  sqliteBus,
  sqliteEventStore,
  sqliteReadModels,
  watchDisk,
} from '@gantry/embedded'
import type { EventStore, Log } from '@gantry/event-sourcing'
import { checkEventStore, esdbEventStore } from '@gantry/event-store-esdb'
import type { Bus } from '@gantry/messaging'
import { type NatsOptions, natsBus } from '@gantry/messaging-nats'
import type { BlobStore, ReadModels } from '@gantry/read-models'
import { checkReadModels, gridFsBlobStore, mongoReadModels } from '@gantry/read-models-mongo'
import type { Engine } from './engine.ts'
import type { BusSettings, StoreSettings } from './settings.ts'

interface Open<Store> {
  store: Store
  engine: Engine
}

/** Paths of sqlite: and file: URLs; undefined when it is of another scheme. */
const fileOf = (url: string) => (url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined)
const folderOf = (url: string) => {
  if (!url.startsWith('file:')) return undefined
  return url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length)
}

/** The disk under the files of a process, where settings lead to files: it tells the log when it is full. */
export const watchedDisk = (log: Log): Disk =>
  watchDisk({ report: (line, state) => log[state === 'full' ? 'error' : 'info']({}, line) })

/** How long the bus keeps messages. */
export interface MessageRetention {
  /** In milliseconds. Left out: as it is on a server, for ever in a file. */
  retentionMs?: number | undefined
  /** What depends on messages being kept, and for how many milliseconds: a server that keeps them shorter is refused. */
  needed?: { setting: string; ms: number }
}

interface BusOptions extends MessageRetention {
  name: string
  log: Log
  disk?: Disk
}

/**
 * The bus of MESSAGING_URL, for a service of that name.
 * @throws NatsRefused, DataFolderRefused when the settings cannot be used
 */
export function openBus(
  settings: BusSettings,
  { name, log, disk = watchedDisk(log), retentionMs, needed }: BusOptions,
): Open<Bus> {
  const path = fileOf(settings.MESSAGING_URL)
  const kept = { ...(retentionMs !== undefined && { retentionMs }), ...(needed && { needed }) }
  const bus =
    path === undefined
      ? natsBus({ ...natsOptions(settings, name, log), ...kept })
      : sqliteBus({ path, disk, retentionMs })
  // What is to be told waits in the log until the bus is back.
  return { store: bus, engine: { setting: 'MESSAGING_URL', spared: true, check: () => bus.ping() } }
}

function natsOptions(settings: BusSettings, name: string, log: Log): NatsOptions {
  const { NATS_USER: user, NATS_PASSWORD: password, NATS_TOKEN: token } = settings
  const { NATS_CREDENTIALS: credentials, NATS_NKEY_SEED: nkeySeed } = settings
  const { NATS_CA: ca, NATS_CERT: cert, NATS_KEY: key } = settings
  const certificates = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  return {
    url: settings.MESSAGING_URL,
    name: `${name}-${hostname()}-${process.pid}`,
    inbox: `_INBOX.${name}`,
    report: line => log.info({}, line),
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(token !== undefined && { token }),
    ...(credentials !== undefined && { credentials }),
    ...(nkeySeed !== undefined && { nkeySeed }),
    ...(Object.keys(certificates).length > 0 && { tls: certificates }),
  }
}

function openEventStore(url: string, disk: Disk): Open<EventStore> {
  const path = fileOf(url)
  const store =
    path === undefined ? esdbEventStore({ connectionString: url }) : sqliteEventStore({ path, disk })
  let known = path !== undefined
  return {
    store,
    engine: {
      setting: 'EVENT_STORE_URL',
      async check() {
        if (!known) await checkEventStore(url)
        known = true
        await store.head()
      },
    },
  }
}

function openReadModels(url: string, disk: Disk, log: Log | undefined): Open<ReadModels> {
  const path = fileOf(url)
  const readModels =
    path === undefined
      ? mongoReadModels({ url })
      : sqliteReadModels({ path, disk, ...(log && { log: line => log.info({}, line) }) })
  let known = path !== undefined
  return {
    store: readModels,
    engine: {
      setting: 'READ_MODEL_URL',
      async check() {
        if (!known) await checkReadModels({ url })
        known = true
        await readModels.ping()
      },
    },
  }
}

/** Opened with the first use: most services have no blobs. @throws Error when neither setting leads to a store of blobs */
function openBlobs({ BLOB_URL, READ_MODEL_URL }: StoreSettings, disk: Disk): BlobStore {
  const folder = BLOB_URL && folderOf(BLOB_URL)
  if (folder) return folderBlobStore({ path: folder, disk })
  const url = BLOB_URL ?? READ_MODEL_URL
  if (url.startsWith('sqlite:'))
    throw new Error('BLOB_URL: must be set, such as file:FOLDER, where READ_MODEL_URL is sqlite:PATH')
  return gridFsBlobStore({ url, setting: BLOB_URL ? 'BLOB_URL' : 'READ_MODEL_URL' })
}

export interface Stores {
  eventStore: EventStore
  readModels: ReadModels
  /** Made when it is asked for. @throws Error naming the setting */
  blobs(): BlobStore
  engines: readonly Engine[]
  close(): Promise<void>
}

/**
 * The log, the read models and the blobs that the settings lead to. Servers need not be there yet: the engines tell
 * when they are.
 * @throws EventStoreUrlRefused, MongoRefused, DataFolderRefused when a URL cannot be used
 */
export function openStores(settings: StoreSettings, disk: Disk = watchDisk(), log?: Log): Stores {
  const events = openEventStore(settings.EVENT_STORE_URL, disk)
  const views = openReadModels(settings.READ_MODEL_URL, disk, log)
  let blobs: BlobStore | undefined
  return {
    eventStore: events.store,
    readModels: views.store,
    blobs() {
      blobs ??= openBlobs(settings, disk)
      return blobs
    },
    engines: [events.engine, views.engine],
    async close() {
      await Promise.all([events.store.close(), views.store.close(), blobs?.close()])
    },
  }
}
