import { randomUUID } from 'node:crypto'
import { type CatalogSettings, catalogService } from '@gantry/catalog'
import {
  type Disk,
  folderBlobStore,
  inspectFiles,
  sqliteBus,
  sqliteEventStore,
  sqliteReadModels,
  sqliteUserKeys,
} from '@gantry/embedded'
import { EarlyMessages } from '@gantry/event-sourcing'
import type { BackingStore, ProcessContext } from '@gantry/hosting'
import { type IdentityDependencies, type IdentitySettings, identityService } from '@gantry/identity'
import { type DocumentSettings, mediaService } from '@gantry/media'
import { type NotifierSettings, notifierService } from '@gantry/notifier'
import { localPeers, readModelMetrics, watchedLeases } from '@gantry/service-runtime'
import type { BlobStore } from '@gantry/stores'
import type { DataFolder } from './data-folder.ts'
import type { Settings } from './settings.ts'

/** The library that reads the files of the embedded stores. */
const SQLITE = { kind: 'SQLite', version: process.versions.sqlite ?? null }

/** Creates the four services on the given stores, without starting them. */
export function servicesOver(
  dependencies: IdentityDependencies,
  blobs: BlobStore,
  settings: CatalogSettings & DocumentSettings & IdentitySettings & NotifierSettings,
) {
  const identity = identityService(dependencies, settings)
  const services = [
    catalogService(dependencies, settings),
    identity,
    mediaService({ ...dependencies, blobs }, settings),
    notifierService(dependencies, settings),
  ]
  return { identity, services }
}

/** Creates the four services on the embedded stores of a data folder, without starting them. */
export function compose(
  folder: DataFolder,
  { settings, log, metrics, disk }: Omit<ProcessContext<Settings>, 'now' | 'state'> & { disk: Disk },
) {
  const files = {
    events: folder.events,
    'read-models': folder.readModels,
    messages: folder.messages,
    'user-keys': folder.userKeys,
  }
  inspectFiles(files)
  const eventStore = sqliteEventStore({ path: files.events, exclusive: true, disk })
  const stored = sqliteReadModels({
    path: files['read-models'],
    exclusive: true,
    disk,
    log: message => log.info({}, message),
  })
  const readModels = { ...stored, leases: watchedLeases(metrics, stored.leases) }
  // The lock on the log keeps other processes away from the folder, so only this bus uses the file.
  const bus = sqliteBus({
    path: files.messages,
    disk,
    retentionMs: settings.MESSAGE_RETENTION,
    polls: false,
  })
  const userKeys = sqliteUserKeys({ path: files['user-keys'], disk })
  const blobs = folderBlobStore({ path: folder.images, disk })

  const peers = localPeers()
  const early = new EarlyMessages()
  const backlogs = [() => early.running.size]
  const dependencies: IdentityDependencies = {
    eventStore,
    readModels,
    bus,
    userKeys,
    now: () => new Date(),
    newId: randomUUID,
    encryptionKeys: folder.encryptionKeys,
    // The files are locked by this process. A fixed holder takes over the leases of the previous process without waiting.
    process: { holder: 'standalone', log, metrics, peers, alone: { early, backlogs } },
  }
  const { identity, services } = servicesOver(dependencies, blobs, settings)
  readModelMetrics(
    metrics,
    { readModels, eventStore },
    services.flatMap(service => service.projectors),
  )
  return {
    dependencies,
    peers,
    files: { eventStore, userKeys },
    /** Number of deliveries that are behind. */
    behind: () => backlogs.reduce((sum, backlog) => sum + backlog(), 0),
    backingStores: backingStoresOf(dependencies),
    identity,
    services,
    /** What the services wait for before they are ready; undefined when they are. */
    waitingFor: () => services.map(service => service.waitingFor()).find(what => what !== undefined),
    async release() {
      await Promise.all(services.map(service => service.release()))
    },
    async close() {
      await Promise.all(services.map(service => service.stop()))
      await Promise.all([
        eventStore.close(),
        readModels.close(),
        bus.close(),
        userKeys.close(),
        blobs.close(),
      ])
    },
  }
}

/** Requests are answered also while a store cannot be used: reads continue on a full disk. */
const backingStoresOf = ({ eventStore, readModels, bus }: IdentityDependencies): BackingStore[] => [
  {
    setting: 'EVENT_STORE_URL',
    onlyAtStart: true,
    about: () => ({ purpose: 'EVENT_LOG', ...SQLITE }),
    check: async () => void (await eventStore.head()),
  },
  {
    setting: 'READ_MODEL_URL',
    onlyAtStart: true,
    about: () => ({ purpose: 'READ_MODELS', ...SQLITE }),
    check: () => readModels.ping(),
  },
  {
    setting: 'DATA_DIR',
    onlyAtStart: true,
    about: () => ({ purpose: 'MESSAGE_BUS', ...SQLITE }),
    check: () => bus.ping(),
  },
]
