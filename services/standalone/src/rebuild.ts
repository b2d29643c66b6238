import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { DataFolderRefused, sqliteBus } from '@gantry/embedded'
import { NoResponder, RequestTimeout } from '@gantry/messaging'
import { processLog, readSettings, SettingsRefused } from '@gantry/service-kit'
import { compose } from './composition.ts'
import { type DataFolder, openDataFolder } from './data-folder.ts'
import { askForRebuild, type Rebuilding, rebuildAll } from './rebuilding.ts'
import { type Settings, settingsSchema } from './settings.ts'

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

try {
  const settings = readSettings(settingsSchema, process.env)
  const folder = openDataFolder(settings.DATA_DIR, settings.ENCRYPTION_KEY)
  if (!(await bySomebodyElse(folder))) await byOneself(settings, folder)
  say('All read models are made')
} catch (error) {
  if (!(error instanceof DataFolderRefused || error instanceof SettingsRefused)) throw error
  process.stderr.write(`gantry: ${error.message}\n`)
  process.exit(1)
}
