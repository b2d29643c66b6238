import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Disk,
  dropReadModels as dropSqlite,
  folderBlobStore,
  sqliteEventStore,
  sqliteReadModels,
  sqliteUserKeys,
  watchDisk,
} from '@gantry/embedded'
import type { EventStore, Log } from '@gantry/event-sourcing'
import { checkEventStore, esdbEventStore } from '@gantry/event-store-esdb'
import { type S3Settings, s3BlobStore, s3Location } from '@gantry/s3'
import type { BlobStore, ReadModels, UserKeys } from '@gantry/stores'
import {
  checkReadModels,
  dropReadModels as dropMongo,
  gridFsBlobStore,
  mongoReadModels,
  mongoUserKeys,
} from '@gantry/stores-mongo'
import type { StoreSettings } from '../settings.ts'
import type { BackingStore, Open } from './backing-stores.ts'
import { fileOf, SQLITE } from './files.ts'

/** Name and version of a server that speaks the protocol of MongoDB, e.g. of `MongoDB 7.0.14`. */
function aboutServer(answer: string | undefined): { kind: string; version: string | null } {
  const [, kind = 'MongoDB', version = null] = /^(\S+) (.+)$/.exec(answer ?? '') ?? []
  return { kind, version }
}

const folderOf = (url: string) => {
  if (!url.startsWith('file:')) return undefined
  return url.startsWith('file://') ? fileURLToPath(url) : url.slice('file:'.length)
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

/** A store of blobs. Only a bucket is a backing store of its own, to be checked. */
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

/**
 * Drops the read models of READ_MODEL_URL with all positions, but no blobs and no keys of users. No process may use them,
 * except to wait for leases, which are dropped last or stay.
 * @returns whether there were any
 * @throws ReadModelsUnavailable
 */
export async function dropReadModels({ READ_MODEL_URL }: StoreSettings): Promise<boolean> {
  const path = fileOf(READ_MODEL_URL)
  if (path !== undefined) return dropSqlite(path)
  return (await dropMongo({ url: READ_MODEL_URL })) > 0
}
