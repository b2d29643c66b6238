import { setTimeout } from 'node:timers/promises'
import type { ReadModelState } from '@gantry/contracts'
import { EventStoreUnavailable } from '@gantry/event-sourcing'
import { ReadModelsUnavailable } from '@gantry/stores'
import { CommandFailed, print } from '../command.ts'

const POLL_MS = 200
/** An error of a projector that has made no progress for this long ends the command. */
const FAIL_MS = 60_000

interface Making {
  /** What the services wait for; undefined once their read models exist. */
  waitingFor(): string | undefined
  states(): Promise<Pick<ReadModelState, 'name' | 'position' | 'error'>[]>
  failMs?: number
}

/**
 * Waits until the read models exist, and prints what is missing and errors of projectors.
 * @throws CommandFailed with the error of a projector that repeats without progress
 */
export async function untilMade({ waitingFor, states, failMs = FAIL_MS }: Making): Promise<void> {
  const failures = new Map<string, { message: string; position: string; since: number }>()
  const known = async () => {
    try {
      return await states()
    } catch (error) {
      // While the store is away there is nothing to report.
      if (error instanceof ReadModelsUnavailable || error instanceof EventStoreUnavailable) return []
      throw error
    }
  }
  let printed: string | undefined
  for (let missing = waitingFor(); missing !== undefined; missing = waitingFor()) {
    if (missing !== printed) await print(`Waits for ${missing}`)
    printed = missing
    for (const { name, position, error } of await known()) {
      const found = failures.get(name)
      const before = found?.position === position ? found : undefined
      if (!before) failures.delete(name)
      // A projector that begins again reports no error until it fails again.
      if (error === null) continue
      const { message } = error
      const since = before?.since ?? performance.now()
      failures.set(name, { message, position, since })
      if (before?.message !== message) await print(`${name}: ${message}`)
      if (performance.now() - since > failMs)
        throw new CommandFailed(`${name} cannot make its read models: ${message}`)
    }
    await setTimeout(POLL_MS)
  }
}
