import { setTimeout } from 'node:timers/promises'
import { Refusal } from '@gantry/contracts'
import { watchDisk } from '@gantry/embedded'
import { gateway, serverOptions } from '@gantry/gateway'
import { processServers } from '@gantry/hosting'
import { type Admit, announceWaits, BodyMemory, processLog } from '@gantry/service-kit'
import type { Logger } from 'pino'
import { compose } from './composition.ts'
import { openDataFolder, sealDataFolder } from './data-folder.ts'
import { startDeploymentAgent } from './deployment-agent.ts'
import { answerQuarantine, quarantine } from './quarantining.ts'
import { answerRebuilds } from './rebuilding.ts'
import type { Settings } from './settings.ts'

export interface Standalone {
  /** Base URL, without a trailing slash. */
  url: string
  dataFolder: string
  /** Finishes open requests, stops the workers and closes the stores. */
  stop(): Promise<void>
}

export interface Told {
  /** Called during the start with what the service waits for. */
  progress(message: string): void
  /** Called before the first administrator is created. The generated password is not shown again. */
  firstAdministrator(credentials: { username: string; password: string | undefined }): void
}

const LOOK_MS = 20

/**
 * The five services in one process, on the embedded stores.
 * @throws DataFolderRefused, DiskFull, NotListening
 */
export async function startStandalone(
  settings: Settings,
  told: Told,
  log: Logger = processLog({ level: settings.LOG_LEVEL }),
): Promise<Standalone> {
  const folder = openDataFolder(settings.DATA_DIR, settings.ENCRYPTION_KEY)
  let starting = true
  const disk = watchDisk({
    report(line, state) {
      // During the start a full disk is reported by the error that ends it.
      if (!starting) log[state === 'full' ? 'error' : 'warn']({}, line)
    },
  })
  const composed = compose(settings, folder, log, disk)
  const { services, identity, dependencies } = composed
  const { now, metrics, bus } = dependencies
  const edge = gateway(dependencies, settings)

  let stage: string | undefined = 'its routes'
  const waitingFor = () =>
    stage ?? composed.waitingFor() ?? (starting ? 'the first administrator' : undefined)
  const endAnnouncing = announceWaits(waitingFor, waiting => told.progress(`waits for ${waiting}`))
  const admit: Admit = (request, reply, operation) => {
    if (!starting) return edge.admit(request, reply, operation)
    throw new Refusal('not-ready', { detail: `waits for ${waitingFor() ?? 'its start'}` })
  }
  const { HOST: host, PORT: port, METRICS_PORT: metricsPort, BASE_PATH: basePath } = settings
  const servers = processServers(
    {
      basePath,
      bodyMemory: new BodyMemory(settings.BODY_MEMORY),
      ...serverOptions(settings),
      log,
      metrics,
      now,
      waitingFor,
    },
    { setting: 'PORT', port, host },
    metricsPort === undefined ? undefined : { setting: 'METRICS_PORT', port: metricsPort, host },
  )
  const agent = startDeploymentAgent(bus, log)
  const projectors = services.flatMap(service => service.projectors)
  const stopRebuilds = answerRebuilds(bus, projectors, dependencies.readModels)
  const stopQuarantine = answerQuarantine(bus, quarantine(dependencies.readModels, projectors))
  const stop = async () => {
    endAnnouncing()
    stopRebuilds()
    stopQuarantine()
    await edge.stop()
    await servers.close()
    await agent.stop()
    await composed.close()
  }

  let listening: number
  try {
    listening = await servers.listen({
      async routes(scope) {
        await edge.edge(scope)
        for (const service of services) await service.routes(scope, admit)
      },
    })
    sealDataFolder(folder)
    await Promise.all([...services, edge].map(part => part.start()))
    stage = undefined
    for (;;) {
      const full = disk.full()
      if (full) throw full
      if (composed.waitingFor() === undefined) break
      await setTimeout(LOOK_MS)
    }
    await identity.ensureAdministrator({
      username: settings.GANTRY_ADMIN_USERNAME,
      password: settings.GANTRY_ADMIN_PASSWORD,
      announce: told.firstAdministrator,
    })
    starting = false
    endAnnouncing()
  } catch (error) {
    await stop()
    throw error
  }

  return { url: `http://${host}:${listening}${basePath}`, dataFolder: folder.path, stop }
}
