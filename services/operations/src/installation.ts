import { randomUUID } from 'node:crypto'
import { catalogSettings } from '@gantry/catalog'
import { watchDisk } from '@gantry/embedded'
import type { EventStore } from '@gantry/event-sourcing'
import { keySettings, processOn, processSettings, storeSettings } from '@gantry/hosting'
import { type MessageStorage, openBus } from '@gantry/hosting/bus'
import { openStores } from '@gantry/hosting/stores'
import { type IdentityDependencies, type IdentityService, identitySettings } from '@gantry/identity'
import { documentSettings } from '@gantry/media'
import type { Bus } from '@gantry/messaging'
import { notifierSettings } from '@gantry/notifier'
import {
  localPeers,
  type Peers,
  processLog,
  readSettings,
  requireEncryptionKeys,
  type Service,
  Unanswered,
} from '@gantry/service-runtime'
import {
  compose,
  type DataFolder,
  openDataFolder,
  type Settings,
  servicesOver,
  settingsSchema,
} from '@gantry/standalone'
import type { BlobStore, ReadModels } from '@gantry/stores'
import { Registry } from 'prom-client'

/** The read models of an installation and the projectors that write them. */
export interface Installation {
  readModels: ReadModels
  eventStore: EventStore
  audit: IdentityService['audit']
  /** Names of the projectors of all services. */
  projectors: readonly string[]
  /** Whether the processes of the services run the projectors. */
  isRunElsewhere: boolean
  /** Starts the projectors in this process. */
  startProjectors(): Promise<void>
  /** What the services that are started wait for; undefined once their read models exist. */
  waitingFor(): string | undefined
  close(): Promise<void>
}

export interface ServicesInstallation extends Installation {
  bus: Bus
  blobs: BlobStore
}

/** The settings that a single service has, so that the command can run in its environment. */
const servicesSchema = processSettings.extend({
  ...keySettings.shape,
  ...storeSettings.shape,
  ...catalogSettings.shape,
  ...documentSettings.shape,
  ...identitySettings.shape,
  ...notifierSettings.shape,
})

/**
 * Runs a command on the installation of the settings. With MESSAGING_URL, it consists of separate services. Otherwise it is
 * a data folder, whose read models only a running standalone process can use.
 * @param name of the command
 * @param options.running works with the running standalone process
 * @param options.onStores works on the stores of services, or of a data folder that no process uses
 * @throws SettingsRefused, DataFolderRefused
 */
export async function onInstallation<Result>(
  name: string,
  environment: NodeJS.ProcessEnv,
  {
    running,
    onStores,
  }: {
    running(peers: Pick<Peers, 'ask'>): Promise<Result>
    onStores(installation: Installation): Promise<Result>
  },
): Promise<Result> {
  if (environment.MESSAGING_URL) return closing(await servicesInstallation(name, environment), onStores)
  const settings = readSettings(settingsSchema, environment)
  const folder = openDataFolder(settings)
  try {
    return await running(processOn(folder.path))
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error
  }
  return closing(await stoppedInstallation(settings, folder), onStores)
}

/**
 * Runs a command on the stores of separate services. It does not create their stream on a NATS server.
 * @throws SettingsRefused, or an error of a backing store that cannot be used
 */
export const onServices = async <Result>(
  name: string,
  environment: NodeJS.ProcessEnv,
  work: (installation: ServicesInstallation) => Promise<Result>,
): Promise<Result> => closing(await servicesInstallation(name, environment, { create: false }), work)

/**
 * Runs a command on the stores of services, or of a data folder that no process uses.
 * @throws SettingsRefused, DataFolderRefused
 */
export async function onStores<Result>(
  name: string,
  environment: NodeJS.ProcessEnv,
  work: (installation: Installation) => Promise<Result>,
): Promise<Result> {
  if (environment.MESSAGING_URL) return onServices(name, environment, work)
  const settings = readSettings(settingsSchema, environment)
  return closing(await stoppedInstallation(settings, openDataFolder(settings)), work)
}

async function closing<Result, Opened extends Installation>(
  installation: Opened,
  work: (installation: Opened) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(installation)
  } finally {
    await installation.close()
  }
}

const projectorsOf = (
  services: readonly Service[],
): Pick<Installation, 'projectors' | 'startProjectors' | 'waitingFor'> => ({
  projectors: services.flatMap(service => service.projectors),
  async startProjectors() {
    await Promise.all(services.map(service => service.start('projectors')))
  },
  waitingFor: () => services.map(service => service.waitingFor()).find(what => what !== undefined),
})

/** An installation on a data folder that no process uses. @throws SettingsRefused when a key is missing */
async function stoppedInstallation(settings: Settings, folder: DataFolder): Promise<Installation> {
  const log = processLog({ level: settings.LOG_LEVEL })
  const composed = compose(folder, { settings, log, metrics: new Registry(), disk: watchDisk() })
  const { readModels, eventStore } = composed.dependencies
  try {
    await requireEncryptionKeys(eventStore, folder.encryptionKeys)
  } catch (error) {
    await composed.close()
    throw error
  }
  return {
    readModels,
    eventStore,
    audit: composed.identity.audit,
    ...projectorsOf(composed.services),
    isRunElsewhere: false,
    close: composed.close,
  }
}

/** An installation of separate service processes, on the stores of the settings. */
async function servicesInstallation(
  name: string,
  environment: NodeJS.ProcessEnv,
  messages: Pick<MessageStorage, 'create'> = {},
): Promise<ServicesInstallation> {
  const settings = readSettings(servicesSchema, environment)
  const log = processLog({ level: 'silent' })
  const stores = openStores(settings)
  for (const { check } of stores.backingStores) await check()
  const { store: bus } = openBus(settings, { name, log, ...messages })
  const dependencies: IdentityDependencies = {
    ...stores,
    userKeys: stores.userKeys(),
    bus,
    now: () => new Date(),
    newId: randomUUID,
    encryptionKeys: settings.ENCRYPTION_KEY,
    process: { holder: `${name}-${randomUUID()}`, log, metrics: new Registry(), peers: localPeers() },
  }
  const blobs = stores.blobs(settings)
  const { identity, services } = servicesOver(dependencies, blobs, settings)
  return {
    bus,
    blobs,
    readModels: stores.readModels,
    eventStore: stores.eventStore,
    audit: identity.audit,
    ...projectorsOf(services),
    isRunElsewhere: true,
    async close() {
      await Promise.all(services.map(service => service.stop()))
      await Promise.all([stores.close(), bus.close()])
    },
  }
}
