import { randomUUID } from 'node:crypto'
import { catalogSettings } from '@gantry/catalog'
import { DataFolderRefused, DiskFull, watchDisk } from '@gantry/embedded'
import { EventStoreUnavailable } from '@gantry/event-sourcing'
import { keySettings, openBus, openStores, processSettings, storeSettings } from '@gantry/hosting'
import { identitySettings } from '@gantry/identity'
import { NoResponder, RequestTimeout } from '@gantry/messaging'
import { notifierSettings } from '@gantry/notifier'
import { type ReadModels, ReadModelsUnavailable } from '@gantry/read-models'
import { type Dependencies, processLog, readSettings, SettingsRefused } from '@gantry/service-kit'
import { Registry } from 'prom-client'
import { compose, servicesOver } from './composition.ts'
import type { DataFolder } from './data-folder.ts'
import type { Settings } from './settings.ts'

/** The read models of an installation and the projectors that write them, for operator commands. */
export interface Installation {
  readModels: ReadModels
  /** Names of the projectors of all services. */
  projectors: readonly string[]
  /** Starts the projectors when the command has the data folder for itself; otherwise the services run them. */
  startProjectors(): Promise<void>
  close(): Promise<void>
}

/** The settings that a single service has, so that the command can run in its environment. */
const servicesSchema = processSettings.extend({
  ...keySettings.shape,
  ...storeSettings.shape,
  ...catalogSettings.shape,
  ...identitySettings.shape,
  ...notifierSettings.shape,
})

/** An installation on a data folder that no running service uses. */
export function stoppedInstallation(settings: Settings, folder: DataFolder): Installation {
  const composed = compose(settings, folder, processLog({ level: settings.LOG_LEVEL }), watchDisk())
  return {
    readModels: composed.dependencies.readModels,
    projectors: composed.services.flatMap(service => service.projectors),
    async startProjectors() {
      await Promise.all(composed.services.map(service => service.start('projectors')))
    },
    close: composed.close,
  }
}

/** An installation of separate service processes, on the stores of the settings. @throws SettingsRefused */
export async function servicesInstallation(
  name: string,
  environment: NodeJS.ProcessEnv,
): Promise<Installation> {
  const settings = readSettings(servicesSchema, environment)
  const log = processLog({ level: 'silent' })
  const stores = openStores(settings)
  for (const { check } of stores.engines) await check()
  const { store: bus } = openBus(settings, { name, log })
  const dependencies: Dependencies = {
    ...stores,
    bus,
    now: () => new Date(),
    newId: randomUUID,
    log,
    holder: name,
    encryptionKey: settings.ENCRYPTION_KEY,
    metrics: new Registry(),
  }
  const { services } = servicesOver(dependencies, stores.blobs(), settings)
  return {
    readModels: stores.readModels,
    projectors: services.flatMap(service => service.projectors),
    async startProjectors() {},
    async close() {
      await Promise.all(services.map(service => service.stop()))
      await Promise.all([stores.close(), bus.close()])
    },
  }
}

/** Whether a request on the bus got no response, because the service is not running. */
export const isUnanswered = (error: unknown): boolean =>
  error instanceof NoResponder || error instanceof RequestTimeout

/** Whether the message of an error is enough for an operator: an error of a setting, a folder or a backing store. */
export function isExpected(error: unknown): error is Error {
  return (
    error instanceof DataFolderRefused ||
    error instanceof DiskFull ||
    error instanceof SettingsRefused ||
    error instanceof EventStoreUnavailable ||
    error instanceof ReadModelsUnavailable
  )
}
