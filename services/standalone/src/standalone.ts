import { setTimeout } from 'node:timers/promises'
import { type Disk, watchDisk } from '@gantry/embedded'
import { gateway, systemFrom, systemRoute } from '@gantry/gateway'
import { answerOperators, type ProcessContext, type ProcessParts } from '@gantry/hosting'
import {
  Intake,
  logErrorCounter,
  ownMetadata,
  type Service,
  useEncryptionKeys,
} from '@gantry/service-runtime'
import { answerBackups } from './backing-up.ts'
import { compose } from './composition.ts'
import { openDataFolder, sealDataFolder } from './data-folder.ts'
import { startDeploymentAgent } from './deployment-agent.ts'
import { answerQuarantine, quarantine } from './quarantining.ts'
import { answerRebuilds } from './rebuilding.ts'
import { type Settings, withPublicUrl } from './settings.ts'
import { type Start, showAdministrator, terminal } from './terminal.ts'

const POLL_MS = 20

/**
 * The parts of the standalone process: the five services on the embedded stores of a data folder.
 * @throws DataFolderRefused, DiskFull
 */
export function openStandalone(given: ProcessContext<Settings>, start: Start): ProcessParts {
  const settings = withPublicUrl(given.settings)
  const context = { ...given, settings }
  const { log } = context
  let starting = true
  const disk = watchDisk({
    report(line, state) {
      // During the start a full disk is reported by the error that ends it.
      if (!starting) log[state === 'full' ? 'error' : 'warn']({}, line)
    },
  })
  const { folder, composed } = openedOn(context, disk)
  const shown = terminal(settings, folder.path, start)
  const { services, identity, dependencies } = composed
  const { readModels, eventStore } = dependencies
  const { peers } = composed
  let closeSocket = async () => {}
  const waitingFor = () => composed.waitingFor() ?? (starting ? 'the first administrator' : undefined)
  const edge = gateway(
    { ...dependencies, ...dependencies.process, starting: () => (starting ? waitingFor() : undefined) },
    settings,
  )
  const projectors = services.flatMap(service => service.projectors)
  const agent = startDeploymentAgent({ ...dependencies, ...dependencies.process })
  logErrorCounter(dependencies.process.metrics).inc({ worker: agent.name }, 0)
  const stopRebuilds = answerRebuilds(peers, projectors, dependencies)
  const stopBackups = answerBackups(peers, composed.files, {
    usesKeyFile: settings.ENCRYPTION_KEY === undefined,
  })
  const stopQuarantine = answerQuarantine(peers, quarantine(readModels, projectors))

  return {
    backingStores: composed.backingStores,
    terminal: shown,
    waitingFor,
    async routes(scope) {
      await edge.edge(scope)
      systemRoute(scope, {
        admit: edge.admit,
        system: async () => systemFrom(given.state(), await lagsOf(services)),
      })
      const admit = new Intake(composed.behind).admitting(edge.admit)
      for (const service of services) await service.routes(scope, admit)
      closeSocket = await answerOperators(folder.path, peers, given)
    },
    async start() {
      await useEncryptionKeys(eventStore, folder.encryptionKeys, ownMetadata(dependencies, 'standalone'))
      onDisk(folder.path, disk, () => sealDataFolder(folder))
      await Promise.all([...services, edge].map(part => part.start()))
      for (;;) {
        const full = disk.full()
        if (full) throw full
        if (composed.waitingFor() === undefined) break
        await setTimeout(POLL_MS)
      }
      await identity.ensureAdministrator({
        username: settings.GANTRY_ADMIN_USERNAME,
        password: settings.GANTRY_ADMIN_PASSWORD,
        announce: showAdministrator,
      })
      starting = false
    },
    release: composed.release,
    async stop() {
      await closeSocket()
      stopRebuilds()
      stopQuarantine()
      await Promise.all([edge.stop(), agent.stop(), stopBackups()])
      await composed.close()
    },
  }
}

const lagsOf = (services: readonly Service[]) =>
  Promise.all(services.map(async service => ({ name: service.name, lag: await service.lag() })))

/** @throws DataFolderRefused, DiskFull */
function openedOn(context: ProcessContext<Settings>, disk: Disk) {
  const { settings } = context
  return onDisk(settings.DATA_DIR, disk, () => {
    const folder = openDataFolder(settings)
    return { folder, composed: compose(folder, { ...context, disk }) }
  })
}

/** Does work on a data folder. @throws DiskFull with the path of the folder when the disk is full */
function onDisk<Result>(path: string, disk: Disk, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    throw disk.failed(path, error)
  }
}
