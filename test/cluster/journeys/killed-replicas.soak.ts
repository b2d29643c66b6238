import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, test, vi } from 'vitest'
import { startLoad } from './support/load.ts'
import { readRecords } from './support/records.ts'
import { runningTopology } from './support/running.ts'

const OPERATIONS = join(import.meta.dirname, '../../../services/operations/src/main.ts')
const KILLS = 8
const BETWEEN_MS = 1_500
/** Step through the processes that reaches each of them, in the same order in every run. */
const STEP = 7

const running = runningTopology()

test('kill -9 of one replica after the other under load loses no acknowledged write, and the read models equal rebuilt ones', async () => {
  const { topology, receiver } = running()
  const services = topology.processes.filter(({ name }) => !name.startsWith('gateway'))
  const load = startLoad(topology)
  await vi.waitFor(() => expect(load.acknowledged).toBeGreaterThan(20), { timeout: 30_000 })
  for (let kill = 0; kill < KILLS; kill++) {
    const replica = services[(kill * STEP + 3) % services.length]
    process.kill(topology.pid(replica?.name ?? ''), 'SIGKILL')
    await setTimeout(BETWEEN_MS)
    await vi.waitFor(() => expect(services.every(({ state }) => state() === 'ready')).toBe(true), {
      timeout: 60_000,
    })
  }
  await load.stop()

  expect(topology.said.filter(line => line.includes('SIGKILL'))).toHaveLength(KILLS)
  expect(load.failedReads).toEqual([])
  expect(load.staleReads).toEqual([])
  await load.check(receiver)
  const followed = await readRecords(topology)
  await promisify(execFile)(process.execPath, [OPERATIONS, 'rebuild'], { env: topology.environment })
  expect(await readRecords(topology)).toEqual(followed)
})
