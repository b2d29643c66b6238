import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { askForRebuild, type Rebuilding, rebuildAll } from '@gantry/standalone'
import { WrongUsage } from './command.ts'
import { onInstallation } from './installation.ts'

export const USAGE = 'usage: npm run rebuild'
const POLL_MS = 200

const onTerminal = process.stdout.isTTY === true
const print = (line: string) => process.stdout.write(`${onTerminal ? '\r\x1b[K' : ''}${line}\n`)

/**
 * Rebuilds all read models from the log. A running standalone process does it itself and stays available. Separate services
 * find the request in the read models, so it is carried out even if this command is stopped.
 */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  if (!takesNone(args)) throw new WrongUsage(USAGE)
  const id = randomUUID()
  await onInstallation('rebuild', environment, {
    async running(bus) {
      await askForRebuild(bus, id)
      print('The running service rebuilds its read models from the log')
      await showProgress(() => askForRebuild(bus, id))
    },
    async onStores({ projectors, readModels, startProjectors }) {
      print(
        startProjectors
          ? 'Rebuilding the read models from the log'
          : 'Each service rebuilds its read models from the log as soon as it runs',
      )
      const progress = await rebuildAll(projectors, readModels, id)
      await startProjectors?.()
      await showProgress(progress)
    },
  })
  print('All read models are rebuilt')
  return 0
}

function takesNone(args: string[]): boolean {
  try {
    parseArgs({ args })
    return true
  } catch {
    return false
  }
}

/** Prints the progress until all projectors have finished. */
async function showProgress(progress: () => Promise<Rebuilding>): Promise<void> {
  const startedAt = performance.now()
  const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(1)
  const printed = new Set<string>()
  for (;;) {
    const { done, waiting } = await progress()
    for (const name of done) if (!printed.has(name)) print(`${name}: done after ${seconds()} s`)
    for (const name of done) printed.add(name)
    if (waiting.length === 0) return
    if (onTerminal) process.stdout.write(`\r${seconds()} s, working on ${waiting.join(', ')}\x1b[K`)
    await setTimeout(POLL_MS)
  }
}
