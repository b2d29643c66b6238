import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { DataFolderRefused } from '@gantry/embedded'
import { requestRebuild } from '@gantry/event-sourcing'
import { readSettings, SettingsRefused } from '@gantry/service-kit'
import { pino } from 'pino'
import { compose } from './composition.ts'
import { openDataFolder } from './data-folder.ts'
import { settingsSchema } from './settings.ts'

/**
 * Makes all read models anew from the log, while a running service goes on answering from what is there: whichever
 * process holds a projector's lease does the work. Started alone, this process does it.
 */
async function rebuild(): Promise<void> {
  const settings = readSettings(settingsSchema, process.env)
  const composed = compose(
    settings,
    openDataFolder(settings.DATA_DIR, settings.ENCRYPTION_KEY),
    pino({ level: settings.LOG_LEVEL }),
  )
  const { eventStore, readModels } = composed.dependencies
  const projectors = composed.services.flatMap(service => service.projectors)
  const startedAt = performance.now()
  const request = randomUUID()
  const finished = await Promise.all(projectors.map(name => requestRebuild(name, readModels, request)))
  const head = await eventStore.head()
  await Promise.all(composed.services.map(service => service.start('projectors')))

  const live = process.stdout.isTTY === true
  const done = new Set<string>()
  while (done.size < projectors.length) {
    await setTimeout(100)
    for (const [index, name] of projectors.entries()) {
      if (done.has(name) || !(await finished[index]?.())) continue
      done.add(name)
      process.stdout.write(`${live ? '\r\x1b[K' : ''}${name}: done\n`)
    }
    if (live) {
      const waiting = projectors.filter(name => !done.has(name))
      process.stdout.write(
        `\r${((performance.now() - startedAt) / 1000).toFixed(0)} s, working on ${waiting.join(', ')}\x1b[K`,
      )
    }
  }
  await composed.close()
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  process.stdout.write(
    `${live ? '\r\x1b[K' : ''}All read models made from ${Number(head)} events in ${seconds} s\n`,
  )
}

try {
  await rebuild()
} catch (error) {
  if (!(error instanceof DataFolderRefused || error instanceof SettingsRefused)) throw error
  process.stderr.write(`gantry: ${error.message}\n`)
  process.exit(1)
}
