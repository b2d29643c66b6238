import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { catalogService } from '@gantry/catalog'
import { folderBlobStore, sqliteBus, sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { Refusal } from '@gantry/event-sourcing'
import { gateway } from '@gantry/gateway'
import { identityService } from '@gantry/identity'
import { mediaService } from '@gantry/media'
import { notifierService } from '@gantry/notifier'
import { type Dependencies, httpServer } from '@gantry/service-kit'
import { type Logger, pino } from 'pino'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { openDataFolder, sealDataFolder } from './data-folder.ts'
import { startDeploymentAgent } from './deployment-agent.ts'
import type { Settings } from './settings.ts'

export interface Standalone {
  /** Where it answers, without the base path's trailing slash. */
  url: string
  dataFolder: string
  /** Answers what it has begun, stops its workers and closes its stores. */
  stop(): Promise<void>
}

export interface Told {
  /** While the service starts: what it is waiting for. */
  progress(message: string): void
  /** The first administrator, before it comes to exist: said now or never. */
  firstAdministrator(credentials: { username: string; password: string | undefined }): void
}

/** The five services in one process, on the embedded stores. @throws DataFolderRefused, or what listening throws */
export async function startStandalone(settings: Settings, told: Told, log: Logger = pino({ level: settings.LOG_LEVEL })): Promise<Standalone> {
  const folder = openDataFolder(settings.DATA_DIR, settings.ENCRYPTION_KEY)
  const now = () => new Date()
  const eventStore = sqliteEventStore({ path: settings.EVENT_STORE_URL ?? folder.events })
  const readModels = sqliteReadModels({ path: settings.READ_MODEL_URL ?? folder.readModels })
  const bus = sqliteBus({ path: folder.messages })
  const blobs = folderBlobStore({ path: folder.images })
  const metrics = new Registry()
  collectDefaultMetrics({ register: metrics })

  const dependencies: Dependencies = {
    eventStore,
    readModels,
    bus,
    now,
    newId: randomUUID,
    log,
    holder: `${hostname()}-${process.pid}-${randomUUID()}`,
    encryptionKey: folder.encryptionKey,
    metrics,
  }
  const identity = identityService(dependencies, settings)
  const services = [
    catalogService(dependencies),
    identity,
    mediaService({ ...dependencies, blobs }, settings),
    notifierService(dependencies, settings),
  ]
  const edge = gateway(dependencies, settings)

  let starting: string | undefined = 'its first look at the data'
  const waitingFor = () => starting ?? services.map(service => service.waitingFor()).find(what => what !== undefined)
  const app = httpServer({ basePath: settings.BASE_PATH, log, metrics, now, waitingFor })
  app.addHook('onClose', async () => edge.stop())
  await app.register(
    async scope => {
      await edge.routes(scope)
      for (const service of services) await service.routes(scope, admit)
    },
    { prefix: settings.BASE_PATH },
  )
  const admit: typeof edge.admit = async (request, reply, operation) => {
    const waiting = waitingFor()
    if (waiting !== undefined) throw new Refusal('not-ready', { detail: `waits for ${waiting}` })
    return edge.admit(request, reply, operation)
  }

  const agent = startDeploymentAgent(bus, log)
  const closeStores = async () => {
    await agent.stop()
    await Promise.all(services.map(service => service.stop()))
    await Promise.all([eventStore.close(), readModels.close(), bus.close(), blobs.close()])
  }

  try {
    await app.listen({ port: settings.PORT, host: settings.HOST })
    sealDataFolder(folder)
    await Promise.all([...services, edge].map(service => service.start()))
    for (let said: string | undefined; ; ) {
      const waiting = services.map(service => service.waitingFor()).find(what => what !== undefined)
      if (waiting === undefined) break
      if (waiting !== said) told.progress(`waits for ${waiting}`)
      said = waiting
      await setTimeout(20)
    }
    await identity.ensureAdministrator({
      username: settings.GANTRY_ADMIN_USERNAME,
      password: settings.GANTRY_ADMIN_PASSWORD,
      announce: told.firstAdministrator,
    })
    starting = undefined
  } catch (error) {
    await app.close()
    await closeStores()
    throw error
  }

  const { port } = app.server.address() as { port: number }
  return {
    url: `http://${settings.HOST}:${port}${settings.BASE_PATH}`,
    dataFolder: folder.path,
    async stop() {
      await app.close()
      await closeStores()
    },
  }
}
