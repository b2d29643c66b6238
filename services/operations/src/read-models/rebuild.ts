import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { readModelStates } from '@gantry/event-sourcing'
import { quarantineOver, type Rebuilding, rebuildAll, rebuilding } from '@gantry/standalone'
import { CommandFailed, parsed, print } from '../command.ts'
import { onInstallation } from '../installation.ts'
import { untilMade } from './new-read-models.ts'

export const USAGE = 'usage: npm run rebuild [-- --new]'
const POLL_MS = 200

const onTerminal = process.stdout.isTTY === true
/** Prints a line in place of the progress. */
const printOver = (line: string) => print(`${onTerminal ? '\r\x1b[K' : ''}${line}`)

/**
 * Rebuilds all read models from the log. A running standalone process does it itself and stays available. Separate services
 * find the request in the read models, so it is carried out even if this command is stopped.
 */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { values } = parsed(USAGE, { args, options: { new: { type: 'boolean', default: false } } })
  if (values.new) return makeNew(environment)
  const id = randomUUID()
  const failed = await onInstallation('rebuild', environment, {
    async running(peers) {
      await peers.ask(rebuilding, { id })
      await print('The running service rebuilds its read models from the log')
      return showProgress(() => peers.ask(rebuilding, { id }))
    },
    async onStores({ projectors, isRunElsewhere, startProjectors, ...stores }) {
      await print(
        isRunElsewhere
          ? 'Each service rebuilds its read models from the log as soon as it runs'
          : 'Rebuilding the read models from the log',
      )
      const progress = await rebuildAll(projectors, stores, id)
      if (!isRunElsewhere) await startProjectors()
      return showProgress(progress)
    },
  })
  if (failed.length > 0) throw new CommandFailed(`not rebuilt: ${failed.join(', ')}`)
  await print('All read models are rebuilt')
  return 0
}

/**
 * Builds the read models that this release needs and that do not exist yet, beside those of the running release.
 * Services that start afterwards need not wait for them.
 */
async function makeNew(environment: NodeJS.ProcessEnv): Promise<number> {
  await onInstallation('rebuild', environment, {
    async running(peers) {
      // Fails if no process runs.
      await quarantineOver(peers).list()
      throw new CommandFailed(
        'a standalone service runs: the next release makes its read models at its start',
      )
    },
    async onStores({ startProjectors, waitingFor, ...stores }) {
      await print('Making the read models of this release that do not exist yet')
      await startProjectors()
      await untilMade({ waitingFor, states: readModelStates(stores) })
    },
  })
  await print('All read models exist')
  return 0
}

/** Prints the progress until all projectors have finished. @returns those whose rebuild was cancelled or has failed */
async function showProgress(progress: () => Promise<Rebuilding>): Promise<string[]> {
  const startedAt = performance.now()
  const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(1)
  const known = new Map<string, string | undefined>()
  const failed: string[] = []
  const printed = new Set<string>()
  for (;;) {
    const { done, waiting, states } = await progress()
    const stateOf = (name: string) => states.find(state => state.name === name)
    for (const { name, lastRebuild } of states) if (!known.has(name)) known.set(name, lastRebuild?.endedAt)
    for (const name of done.filter(name => !printed.has(name))) {
      printed.add(name)
      const last = stateOf(name)?.lastRebuild
      const outcome = last && last.endedAt !== known.get(name) ? last.outcome : 'COMPLETED'
      if (outcome === 'COMPLETED') await printOver(`${name}: done after ${seconds()} s`)
      else failed.push(name)
      if (outcome !== 'COMPLETED')
        await printOver(`${name}: ${outcome.toLowerCase()}${last?.reason ? `: ${last.reason}` : ''}`)
    }
    if (waiting.length === 0) return failed
    if (onTerminal) {
      const shown = waiting.map(name => described(name, stateOf(name)))
      process.stdout.write(`\r${seconds()} s, ${shown.join(', ')}\x1b[K`)
    }
    await setTimeout(POLL_MS)
  }
}

/** E.g. `catalog.projector 42 % at 17000 events/s, 12 s left`. */
function described(name: string, state: Rebuilding['states'][number] | undefined): string {
  if (!state?.rebuild) return `${name} waits`
  const { progress, eventsPerSecond, estimatedEnd } = state.rebuild
  const left = estimatedEnd === null ? undefined : Math.max(0, Date.parse(estimatedEnd) - Date.now()) / 1_000
  const time = left === undefined ? '' : `, ${left.toFixed(0)} s left`
  return `${name} ${(progress * 100).toFixed(0)} % at ${eventsPerSecond} events/s${time}`
}
