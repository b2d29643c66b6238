import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { sqliteBus } from '@gantry/embedded'
import { readSettings } from '@gantry/service-kit'
import { type DataFolder, openDataFolder } from './data-folder.ts'
import {
  type Installation,
  isExpected,
  isUnanswered,
  servicesInstallation,
  stoppedInstallation,
} from './installation.ts'
import { askForRebuild, type Rebuilding, rebuildAll } from './rebuilding.ts'
import { settingsSchema } from './settings.ts'

const live = process.stdout.isTTY === true
const say = (line: string) => process.stdout.write(`${live ? '\r\x1b[K' : ''}${line}\n`)

/** Prints the progress until all projectors have finished. */
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

/** Rebuilds in the running service, which stays available. @returns false when none is running */
async function byRunningService(folder: DataFolder): Promise<boolean> {
  const bus = sqliteBus({ path: folder.messages })
  const id = randomUUID()
  try {
    await askForRebuild(bus, id)
    say('The running service rebuilds its read models from the log')
    await watch(() => askForRebuild(bus, id))
    return true
  } catch (error) {
    if (isUnanswered(error)) return false
    throw error
  } finally {
    await bus.close()
  }
}

async function rebuild(installation: Installation, line: string): Promise<void> {
  const { projectors, readModels } = installation
  say(line)
  const look = await rebuildAll(projectors, readModels, randomUUID())
  await installation.startProjectors()
  await watch(look)
  await installation.close()
}

/** Rebuilds in a running standalone service, or on the data folder if none is running. */
async function inDataFolder(): Promise<void> {
  const settings = readSettings(settingsSchema, process.env)
  const folder = openDataFolder(settings.DATA_DIR, settings.ENCRYPTION_KEY)
  if (await byRunningService(folder)) return
  await rebuild(stoppedInstallation(settings, folder), 'Rebuilding the read models from the log')
}

/** Stores the request in the read models, where the services find it. */
const byServices = async () =>
  rebuild(
    await servicesInstallation('rebuild', process.env),
    'Each service rebuilds its read models from the log as soon as it runs',
  )

// All files are created for this user alone.
process.umask(0o077)
try {
  await (process.env.MESSAGING_URL ? byServices() : inDataFolder())
  say('All read models are rebuilt')
} catch (error) {
  if (!isExpected(error)) throw error
  process.stderr.write(`gantry: ${error.message}\n`)
  process.exit(1)
}
