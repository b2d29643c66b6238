import { setTimeout } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { startLoad } from './support/load.ts'
import { runningTopology } from './support/running.ts'

/** Longer than the duration of any lease. */
const PAUSED_MS = 8_000

const running = runningTopology()

test('a lease holder that is paused and continues later loses and corrupts nothing', async () => {
  const { topology, receiver } = running()
  const load = startLoad(topology)
  await vi.waitFor(() => expect(load.acknowledged).toBeGreaterThan(20), { timeout: 30_000 })
  // One of the two replicas of each service holds the lease, so each is paused in turn.
  for (const number of [1, 2]) {
    const pids = ['catalog', 'identity', 'media', 'notifier'].map(service =>
      topology.pid(`${service}-${number}`),
    )
    for (const pid of pids) process.kill(pid, 'SIGSTOP')
    await setTimeout(PAUSED_MS)
    const before = load.acknowledged
    await vi.waitFor(() => expect(load.acknowledged).toBeGreaterThan(before), { timeout: 20_000 })
    for (const pid of pids) process.kill(pid, 'SIGCONT')
    await setTimeout(PAUSED_MS / 2)
  }
  await load.stop()
  expect(load.staleReads).toEqual([])
  await load.check(receiver)
})
