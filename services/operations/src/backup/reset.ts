import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { relaysOf, renewLogIdentity } from '@gantry/event-sourcing'
import { busSettings, storeSettings } from '@gantry/hosting'
import { dropMessages } from '@gantry/hosting/bus'
import { dropReadModels } from '@gantry/hosting/stores'
import { readSettings } from '@gantry/service-runtime'
import type { Lease, Leases, ReadModels } from '@gantry/stores'
import { CommandFailed, parsed, print, WrongUsage } from '../command.ts'
import { onServices } from '../installation.ts'

export const USAGE = `usage: gantry reset --yes   (with the settings of a service)
  drops read models, positions and messages, which the services make again from the log; never blobs or keys of users`

const schema = busSettings.extend(storeSettings.shape)
const LEASE_MS = 5_000
/** Longer than the lease of a process that was killed. */
const PATIENCE_MS = 6_000
const POLL_MS = 500

/** Drops what is built from the log, after an older log was restored. The services must be stopped. */
export async function run(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  const { values } = parsed(USAGE, { args, options: { yes: { type: 'boolean', default: false } } })
  if (!values.yes) throw new WrongUsage(USAGE)
  if (!environment.MESSAGING_URL)
    throw new CommandFailed(
      'MESSAGING_URL: must be set: npm run restore restores the data of a standalone service',
    )
  const settings = readSettings(schema, environment)
  // The identity first: services do not start on read models and messages of another log, also when this is interrupted.
  const hasDropped = await onServices('reset', environment, ({ eventStore, projectors, readModels }) =>
    whileStopped([...projectors, ...relaysOf(projectors)], readModels, async () => {
      await renewLogIdentity(eventStore)
      return dropReadModels(settings)
    }),
  )
  if (hasDropped) await print('Dropped the read models and the positions of relays')
  if (await dropMessages(settings)) await print('Dropped the messages and the positions of consumers')
  await print('The services make both again from the log when they start')
  return 0
}

/**
 * Does work while it holds the leases of projectors and relays, so that processes that are started meanwhile wait.
 * @throws CommandFailed when a process holds one of them; nothing was done then
 */
export async function whileStopped<Result>(
  names: readonly string[],
  { leases }: Pick<ReadModels, 'leases'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const holder = `reset-${randomUUID()}`
  const held: Lease[] = []
  const renewal = setInterval(() => {
    for (const { name } of held) leases.acquire(name, holder, LEASE_MS).catch(() => {})
  }, LEASE_MS / 3)
  const hold = async (name: string) => {
    const lease = await acquire(name, holder, leases)
    if (lease) held.push(lease)
    return lease !== undefined
  }
  try {
    // At the same time, because a store of leases needs the whole duration of each to see that it is not renewed.
    const free = await Promise.all(names.map(hold))
    const running = new Set(names.filter((_, index) => !free[index]).map(name => name.split('.')[0]))
    if (running.size > 0)
      throw new CommandFailed(
        `still running: ${[...running].join(', ')}; stop all services; nothing was changed`,
      )
    return await work()
  } finally {
    clearInterval(renewal)
    await Promise.allSettled(held.map(lease => leases.release(lease)))
  }
}

/** @returns undefined unless the lease is free, or becomes free because its holder was killed */
async function acquire(name: string, holder: string, leases: Leases): Promise<Lease | undefined> {
  const deadline = performance.now() + PATIENCE_MS
  for (;;) {
    const lease = await leases.acquire(name, holder, LEASE_MS)
    if (lease || performance.now() > deadline) return lease
    await setTimeout(POLL_MS)
  }
}
