import { setTimeout } from 'node:timers/promises'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { Engines } from '../src/engines.ts'
import { startLoad } from './support/load.ts'
import { runningTopology } from './support/running.ts'

const AWAY_MS = 10_000
const BUS_AWAY_MS = 15_000

const running = runningTopology()

let pids: (number | undefined)[]
beforeAll(() => {
  pids = running().topology.processes.map(({ pid }) => pid())
})

const HOLDS = { eventStore: 'event log', readModels: 'read models', messaging: 'bus' }

/** Why the test cannot stop a store; undefined when it can. */
function whyStays(engine: keyof Engines['faults']): string | undefined {
  const { faults, descriptions } = running().topology.engines
  const [, description] = descriptions.find(([of]) => of === HOLDS[engine]) ?? []
  return faults[engine] ? undefined : `needs a server that the tests start; here it is ${description}`
}

/** Kills a store, runs `meanwhile`, and restarts the store with its data. */
async function away(engine: keyof Engines['faults'], meanwhile: () => Promise<void>): Promise<void> {
  const faults = running().topology.engines.faults[engine]
  if (!faults) throw new Error(`${engine} was not started by the tests and cannot be stopped`)
  await faults.kill()
  await meanwhile().finally(() => faults.restart())
}

/** Expects that no process was restarted. */
const nobodyDied = () => expect(running().topology.processes.map(({ pid }) => pid())).toEqual(pids)

test('without NATS for 15 s writes and reads continue, and afterwards all events arrive in order per API', async ({
  skip,
}) => {
  const stays = whyStays('messaging')
  skip(stays !== undefined, stays)
  const { topology, receiver } = running()
  const load = startLoad(topology, { images: true })
  await vi.waitFor(() => expect(load.acknowledged).toBeGreaterThan(20), { timeout: 30_000 })
  let before = 0
  await away('messaging', async () => {
    before = load.acknowledged
    await setTimeout(BUS_AWAY_MS)
    expect(load.acknowledged).toBeGreaterThan(before + 50)
  })
  await setTimeout(2_000)
  await load.stop()
  expect(load.refusedWrites).toEqual([])
  expect(load.failedReads).toEqual([])
  expect(load.staleReads).toEqual([])
  await load.check(receiver)
  nobodyDied()
})

describe.for([
  ['EventStoreDB', 'eventStore', 'write'],
  ['MongoDB', 'readModels', 'read'],
] as const)('without %s', ([, engine, kind]) => {
  test(`a ${kind} answers 503, nothing is lost, and the service recovers when the store returns`, async ({
    skip,
  }) => {
    const stays = whyStays(engine)
    skip(stays !== undefined, stays)
    const { topology, receiver } = running()
    const load = startLoad(topology)
    await vi.waitFor(() => expect(load.acknowledged).toBeGreaterThan(20), { timeout: 30_000 })
    await away(engine, async () => {
      const until = Date.now() + AWAY_MS
      await setTimeout(500)
      while (Date.now() < until) {
        const answer = await (kind === 'write'
          ? topology.send('/apis', {
              method: 'POST',
              body: JSON.stringify({
                name: `away-${Date.now()}`,
                displayName: 'x',
                status: 'ACTIVE',
                tags: [],
              }),
            })
          : topology.send('/apis?size=1'))
        expect(answer.status, `${await answer.clone().text()} ${await topology.faults()}`).toBe(503)
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
        expect(answer.headers.get('content-type')).toMatch('application/problem+json')
        expect(await answer.json()).toMatchObject({
          status: 503,
          code: expect.stringMatching(/unavailable|not-ready/),
        })
        await setTimeout(500)
      }
    })
    await vi.waitFor(async () => expect((await topology.send('/apis?size=1')).status).toBe(200), {
      timeout: 30_000,
    })
    const back = load.acknowledged
    await vi.waitFor(() => expect(load.acknowledged).toBeGreaterThan(back + 20), { timeout: 60_000 })
    await load.stop()
    expect(load.staleReads).toEqual([])
    await load.check(receiver)
    nobodyDied()
  })
})
