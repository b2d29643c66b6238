import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { DataFolderRefused, sqliteBus } from '@gantry/embedded'
import { EventStoreUnavailable } from '@gantry/event-sourcing'
import { openBus, openStores, processSettings, storeSettings } from '@gantry/hosting'
import { identitySettings } from '@gantry/identity'
import { NoResponder, RequestTimeout } from '@gantry/messaging'
import { notifierSettings } from '@gantry/notifier'
import { ReadModelsUnavailable } from '@gantry/read-models'
import { type Dependencies, processLog, readSettings, SettingsRefused } from '@gantry/service-kit'
import { Registry } from 'prom-client'
import { compose, servicesOver } from './composition.ts'
import { type DataFolder, openDataFolder } from './data-folder.ts'
import { askForRebuild, type Rebuilding, rebuildAll } from './rebuilding.ts'
import { type Settings, settingsSchema } from './settings.ts'

/** What a service of its own is told: the command runs best where one runs. */
const servicesSchema = processSettings.extend({
  ...storeSettings.shape,
  ...identitySettings.shape,
  ...notifierSettings.shape,
})

const live = process.stdout.isTTY === true
const say = (line: string) => process.stdout.write(`${live ? '\r\x1b[K' : ''}${line}\n`)

/** Tells how far it is until all is done. */
async function watch(look: () => Promise<Rebuilding>): Promise<void> {
  const startedAt = performance.now()
  const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(1)
  const said = new Set<string>()
  for (;;) {
    const { done, waiting } = await look()
    for (const name of done) if (!said.has(name)) say(`${name}: done after ${seconds()} s`)
    for (const name of done) said.add(name)
    if (waiting.length === 0) return
    if (live) process.stdout.write(`\r${seconds()} s, working on ${waiting.join(', ')}\x1b[K`)
    await setTimeout(200)
  }
}

/** Has the running service do it, which goes on answering from what is there. @returns false when none is running */
async function bySomebodyElse(folder: DataFolder): Promise<boolean> {
  const bus = sqliteBus({ path: folder.messages })
  const id = randomUUID()
  try {
    await askForRebuild(bus, id)
    say('The running service makes its read models from the log')
    await watch(() => askForRebuild(bus, id))
    return true
  } catch (error) {
    if (error instanceof NoResponder || error instanceof RequestTimeout) return false
    throw error
  } finally {
    await bus.close()
  }
}

async function byOneself(settings: Settings, folder: DataFolder): Promise<void> {
  const composed = compose(settings, folder, processLog({ level: settings.LOG_LEVEL }))
  const projectors = composed.services.flatMap(service => service.projectors)
  say('Makes the read models from the log')
  const look = await rebuildAll(projectors, composed.dependencies.readModels, randomUUID())
  await Promise.all(composed.services.map(service => service.start('projectors')))
  await watch(look)
  await composed.close()
}

/** Has the services do it that are processes of their own, by the request that they find beside the read models. */
async function byServices(): Promise<void> {
  const settings = readSettings(servicesSchema, process.env)
  const log = processLog({ level: 'silent' })
  const stores = openStores(settings)
  for (const { check } of stores.engines) await check()
  const { store: bus } = openBus(settings, { name: 'rebuild', log })
  const dependencies: Dependencies = {
    ...stores,
    bus,
    now: () => new Date(),
    newId: randomUUID,
    log,
    holder: 'rebuild',
    encryptionKey: settings.ENCRYPTION_KEY,
    metrics: new Registry(),
  }
  const { services } = servicesOver(dependencies, stores.blobs(), settings)
  const projectors = services.flatMap(service => service.projectors)
  const look = await rebuildAll(projectors, stores.readModels, randomUUID())
  say('The services make their read models from the log, each as soon as it runs')
  await watch(look)
  await Promise.all(services.map(service => service.stop()))
  await Promise.all([stores.close(), bus.close()])
}

/** In one process, whether that runs or not. */
async function inDataFolder(): Promise<void> {
  const settings = readSettings(settingsSchema, process.env)
  const folder = openDataFolder(settings.DATA_DIR, settings.ENCRYPTION_KEY)
  if (!(await bySomebodyElse(folder))) await byOneself(settings, folder)
}

try {
  await (process.env.MESSAGING_URL ? byServices() : inDataFolder())
  say('All read models are made')
} catch (error) {
  if (!isExpected(error)) throw error
  process.stderr.write(`gantry: ${error.message}\n`)
  process.exit(1)
}

/** A setting, a folder or an engine that cannot be used says itself why. */
function isExpected(error: unknown): error is Error {
  return (
    error instanceof DataFolderRefused ||
    error instanceof SettingsRefused ||
    error instanceof EventStoreUnavailable ||
    error instanceof ReadModelsUnavailable
  )
}
