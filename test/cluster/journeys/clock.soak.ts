import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { startLoad } from './support/load.ts'
import { runningTopology } from './support/running.ts'

const TEN_MINUTES_MS = 600_000
/** Offset of the clock of a process, in milliseconds. */
const SHIFTED: Record<string, number> = {
  'gateway-1': TEN_MINUTES_MS,
  'catalog-2': TEN_MINUTES_MS,
  'identity-1': -TEN_MINUTES_MS,
  'media-2': -TEN_MINUTES_MS,
  'notifier-2': TEN_MINUTES_MS,
}

const running = runningTopology({
  ownEnvironment: name =>
    SHIFTED[name] === undefined
      ? {}
      : {
          CLOCK_SHIFT_MS: String(SHIFTED[name]),
          NODE_OPTIONS: `--import ${join(import.meta.dirname, '../src/shifted-clock.ts')}`,
        },
})

test('clocks that are ten minutes ahead or behind cause no failed or stale read', async () => {
  const { topology, receiver } = running()
  const load = startLoad(topology)
  await vi.waitFor(() => expect(load.acknowledged).toBeGreaterThan(300), { timeout: 120_000 })
  // Kills processes so that leases move to replicas with other clocks.
  for (const name of ['catalog-1', 'notifier-1', 'identity-2']) process.kill(topology.pid(name), 'SIGKILL')
  const before = load.acknowledged
  await vi.waitFor(() => expect(load.acknowledged).toBeGreaterThan(before + 200), { timeout: 120_000 })
  await load.stop()
  expect(load.failedReads).toEqual([])
  expect(load.staleReads).toEqual([])
  await load.check(receiver)
})
