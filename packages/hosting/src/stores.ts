import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Disk,
  folderBlobStore,
  sqliteBus,
  sqliteEventStore,
  sqliteReadModels,
  sqliteUserKeys,
  watchDisk,
} from '@gantry/embedded'
import type { EventStore, Log } from '@gantry/event-sourcing'
import { checkEventStore, esdbEventStore } from '@gantry/event-store-esdb'
import type { Bus } from '@gantry/messaging'
import { type NatsOptions, natsBus, natsPublisher, type Publisher } from '@gantry/messaging-nats'
import type { BlobStore, ReadModels, UserKeys } from '@gantry/read-models'
import { checkReadModels, gridFsBlobStore, mongoReadModels, mongoUserKeys } from '@gantry/read-models-mongo'
import { type S3Settings, s3BlobStore, s3Location } from '@gantry/s3'
import type { BackingStore } from './backing-stores.ts'
import type { BusSettings, StoreSettings } from './settings.ts'

/** The version of the library that reads the files of embedded stores. */
const SQLITE = { kind: 'SQLite', version: process.versions.sqlite ?? null }

/** Name and version of a server that speaks the protocol of MongoDB, e.g. of `MongoDB 7.0.14`. */
function aboutServer(answer: string | undefined): { kind: string; version: string | null } {
  const [, kind = 'MongoDB', version = null] = /^(\S+) (.+)$/.exec(answer ?? '') ?? []
  return { kind, version }
}

interface Open<Store> {
  store: Store
  backingStore: BackingStore
}

/** The path of a sqlite: or file: URL; undefined for other schemes. */
export const fileOf = (url: string) => (url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined)
const folderOf = (url: string) => {
  if (!url.startsWith('file:')) return undefined
  return url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length)
}

/** Watches the disks of embedded stores, and logs when one is full and when it has space again. */
export const watchedDisk = (log: Log): Disk =>
  watchDisk({ report: (line, state) => log[state === 'full' ? 'error' : 'info']({}, line) })

/** How the bus keeps messages. */
export interface MessageStorage {
  /** In milliseconds. Default: the configuration of a NATS server stays unchanged; a file keeps messages forever. */
  retentionMs?: number | undefined
  /** Number of NATS servers that keep them. Default: the stream stays as it is. */
  replicas?: number | undefined
  /** Minimum retention in milliseconds and the setting that requires it. A server with a shorter retention is refused. */
  needed?: { setting: string; ms: number }
}

interface BusOptions extends MessageStorage {
  name: string
  log: Log
  disk?: Disk
}

/**
 * Opens the bus of MESSAGING_URL. `name` is the name of the service.
 * @throws NatsRefused, DataFolderRefused when the settings cannot be used
 */
export function openBus(
  settings: BusSettings,
  { name, log, disk = watchedDisk(log), retentionMs, replicas, needed }: BusOptions,
): Open<Bus> {
  const path = fileOf(settings.MESSAGING_URL)
  const stream = {
    ...(retentionMs !== undefined && { retentionMs }),
    ...(replicas !== undefined && { replicas }),
    ...(needed && { needed }),
  }
  // Events wait in the log until the bus is available again.
  const opened = (bus: Bus, about: () => { kind: string; version: string | null }): Open<Bus> => ({
    store: bus,
    backingStore: {
      setting: 'MESSAGING_URL',
      onlyAtStart: true,
      about: () => ({ purpose: 'MESSAGE_BUS', ...about() }),
      check: () => bus.ping(),
    },
  })
  if (path !== undefined) return opened(sqliteBus({ path, disk, retentionMs }), () => SQLITE)
  const nats = natsBus({ ...natsOptions(settings, name, log), stream })
  return opened(nats, () => ({ kind: 'NATS', version: nats.serverVersion() ?? null }))
}

/**
 * Opens a connection that publishes to one subject of the NATS server of MESSAGING_URL, without a stream of its own.
 * @param setting what the operator knows the URL as, for messages
 * @throws NatsRefused, BusUnavailable
 */
export const openPublisher = (
  settings: BusSettings,
  subject: string,
  setting: string,
): Promise<Publisher> => {
  const quiet = () => {}
  const { inbox: _, ...options } = natsOptions(settings, 'operator', {
    info: quiet,
    warn: quiet,
    error: quiet,
  })
  return natsPublisher(options, subject, setting)
}

export function natsOptions(settings: BusSettings, name: string, log: Log): NatsOptions {
  const { NATS_USER: user, NATS_PASSWORD: password, NATS_TOKEN: token } = settings
  const { NATS_CREDENTIALS: file, NATS_NKEY_SEED: nkeySeed } = settings
  const { NATS_CA: ca, NATS_CERT: cert, NATS_KEY: key } = settings
  const certificates = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) }
  return {
    url: settings.MESSAGING_URL,
    name: `${name}-${hostname()}-${process.pid}`,
    inbox: `_INBOX.${name}`,
    report: line => log.info({}, line),
    credentials: {
      ...(user !== undefined && { user }),
      ...(password !== undefined && { password }),
      ...(token !== undefined && { token }),
      ...(file !== undefined && { file }),
      ...(nkeySeed !== undefined && { nkeySeed }),
    },
    ...(Object.keys(certificates).length > 0 && { tls: certificates }),
  }
}

function openEventStore(url: string, disk: Disk): Open<EventStore> {
  const path = fileOf(url)
  const store =
    path === undefined ? esdbEventStore({ connectionString: url }) : sqliteEventStore({ path, disk })
  let version: string | undefined
  return {
    store,
    backingStore: {
      setting: 'EVENT_STORE_URL',
      about: () => ({
        purpose: 'EVENT_LOG',
        ...(path === undefined ? { kind: 'EventStoreDB', version: version ?? null } : SQLITE),
      }),
      async check() {
        if (path === undefined) version ??= await checkEventStore(url)
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
  let server: string | undefined
  return {
    store: readModels,
    backingStore: {
      setting: 'READ_MODEL_URL',
      about: () => ({ purpose: 'READ_MODELS', ...(path === undefined ? aboutServer(server) : SQLITE) }),
      async check() {
        if (path === undefined) server ??= await checkReadModels({ url })
        await readModels.ping()
      },
    },
  }
}

/** A store whose backing store is checked with another one, or cannot be unavailable, has none of its own. */
type OpenBlobs = Pick<Open<BlobStore>, 'store'> & Partial<Open<BlobStore>>

/** Opens the store of blobs. @throws Error when neither BLOB_URL nor READ_MODEL_URL can store blobs */
export function openBlobs(
  { BLOB_URL, READ_MODEL_URL }: Pick<StoreSettings, 'BLOB_URL' | 'READ_MODEL_URL'>,
  s3: S3Settings,
  disk: Disk = watchDisk(),
): OpenBlobs {
  const folder = BLOB_URL && folderOf(BLOB_URL)
  if (folder) return { store: folderBlobStore({ path: folder, disk }) }
  const location = BLOB_URL && s3Location(BLOB_URL)
  if (location) {
    const store = s3BlobStore({ ...location, settings: s3 })
    // Without it, requests that need no bytes of images are still answered.
    return {
      store,
      backingStore: {
        setting: 'BLOB_URL',
        onlyAtStart: true,
        about: () => ({ purpose: 'IMAGES', kind: 'S3', version: null }),
        check: () => store.ping(),
      },
    }
  }
  const url = BLOB_URL ?? READ_MODEL_URL
  if (url.startsWith('sqlite:'))
    throw new Error('BLOB_URL: must be set, e.g. file:FOLDER, because READ_MODEL_URL is sqlite:PATH')
  return { store: gridFsBlobStore({ url, setting: BLOB_URL ? 'BLOB_URL' : 'READ_MODEL_URL' }) }
}

const USER_KEYS_FILE = 'user-keys.db'

/** Opens the store of user keys: by default a file, or a database, next to the read models. */
function openUserKeys(
  { USER_KEY_URL, READ_MODEL_URL }: StoreSettings,
  disk: Disk,
  views: BackingStore,
): Open<UserKeys> {
  const setting = USER_KEY_URL ? 'USER_KEY_URL' : 'READ_MODEL_URL'
  const path = fileOf(USER_KEY_URL ?? READ_MODEL_URL)
  const open = () => {
    if (path !== undefined)
      return sqliteUserKeys({ path: USER_KEY_URL ? path : join(dirname(path), USER_KEYS_FILE), disk })
    if (USER_KEY_URL) return mongoUserKeys({ url: USER_KEY_URL, setting })
    return mongoUserKeys({ url: READ_MODEL_URL, setting, suffix: '-user-keys' })
  }
  const store = open()
  return {
    store,
    backingStore: {
      setting,
      onlyAtStart: true,
      about: () => ({
        ...(USER_KEY_URL ? { kind: 'MongoDB', version: null } : views.about()),
        ...(path !== undefined && SQLITE),
        purpose: 'USER_KEYS',
      }),
      check: () => store.ping(),
    },
  }
}

export interface Stores {
  eventStore: EventStore
  readModels: ReadModels
  /**
   * Opens the store of blobs with the first call, because most services have none. The settings are used if BLOB_URL is a
   * bucket. @throws Error naming the setting
   */
  blobs(s3: S3Settings): BlobStore
  /** Opens the store of user keys with the first call, because only identity uses it. */
  userKeys(): UserKeys
  /** Those that are open. */
  backingStores: readonly BackingStore[]
  close(): Promise<void>
}

/**
 * Opens the event store, the read models and the blobs of the settings. Servers need not be available yet:
 * `backingStores` checks whether they are.
 * @throws EventStoreUrlRefused, MongoRefused, DataFolderRefused when a URL cannot be used
 */
export function openStores(settings: StoreSettings, disk: Disk = watchDisk(), log?: Log): Stores {
  const events = openEventStore(settings.EVENT_STORE_URL, disk)
  const views = openReadModels(settings.READ_MODEL_URL, disk, log)
  let blobs: OpenBlobs | undefined
  let userKeys: Open<UserKeys> | undefined
  return {
    eventStore: events.store,
    readModels: views.store,
    blobs(s3) {
      blobs ??= openBlobs(settings, s3, disk)
      return blobs.store
    },
    userKeys() {
      userKeys ??= openUserKeys(settings, disk, views.backingStore)
      return userKeys.store
    },
    get backingStores() {
      const open = [events, views, userKeys, blobs].map(opened => opened?.backingStore)
      return open.filter(backingStore => backingStore !== undefined)
    },
    async close() {
      await Promise.all([
        events.store.close(),
        views.store.close(),
        blobs?.store.close(),
        userKeys?.store.close(),
      ])
    },
  }
}
