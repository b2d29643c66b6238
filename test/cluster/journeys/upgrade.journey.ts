import { execFile } from 'node:child_process'
import { isDeepStrictEqual, promisify } from 'node:util'
import { argumentsOfCommand, RUN } from '@gantry/deploy/image'
import { ranOn } from '@gantry/engines/ran-on'
import { type HeldStream, heldStreams, listHeld, type RecordedEvent, START } from '@gantry/event-sourcing'
import { openStores, type Stores } from '@gantry/hosting/stores'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { describedEngines } from '../src/engines.ts'
import { type Commands, randomCommands } from './support/commands.ts'
import { type InstalledRelease, installReleases } from './support/next-release.ts'
import {
  expectedResources,
  misrecorded,
  type Release,
  readRecords,
  resourcesOf,
  writerOf,
} from './support/records.ts'
import { storesOfJourneys } from './support/soak.ts'
import { startTopology, type Topology } from './support/topology.ts'

const SEED = Number(process.env.UPGRADE_SEED ?? Date.now() % 0x7fffffff)
/** Number of commands of a phase after its processes became ready. */
const COMMANDS = 20
const PHASE_MS = 180_000
/** Time within which a restarted process becomes ready and the projector reaches the end of the log. */
const READY_MS = 120_000
/** The services that differ between the releases. The others are upgraded before the start. */
const UPGRADED = ['catalog', 'notifier'] as const

let topology: Topology
let releases: Record<Release, InstalledRelease>
let stores: Stores
ranOn(() => describedEngines(topology.engines))
let commands: Commands
beforeAll(async () => {
  const { current, next } = await installReleases()
  releases = { this: current, next }
  topology = await startTopology({
    single: ['identity', 'media'],
    releaseOf: name => (/^(identity|media)/.test(name) ? next : current),
    settings: storesOfJourneys,
    environment: { SHUTDOWN_DELAY: '2s' },
    // The clients stop sending to a gateway before it is replaced.
    ownEnvironment: name => (name.startsWith('gateway') ? { SHUTDOWN_DELAY: '0s' } : {}),
  })
  stores = openStores(topology.engines.urls)
  commands = randomCommands(topology, SEED)
})
afterAll(async () => {
  await commands?.stop()
  await stores?.close()
  await topology?.stop()
  for (const release of Object.values(releases ?? {})) await release.remove()
})

/** Replaces the replicas with this number by a release, for several processes concurrently. */
async function replace(
  number: 1 | 2,
  release: Release,
  processes: readonly string[] = UPGRADED,
): Promise<void> {
  await Promise.all(processes.map(name => topology.replace(`${name}-${number}`, releases[release])))
}

async function readLog(): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = []
  const streamPrefixes = ['api-', 'webhook-']
  for await (const event of stores.eventStore.readAll({ after: START, streamPrefixes })) events.push(event)
  return events
}

async function held(): Promise<HeldStream[]> {
  const streams: HeldStream[] = []
  for (const service of UPGRADED)
    for await (const stream of listHeld(heldStreams(`${service}.projector`), stores.readModels))
      streams.push(stream)
  return streams
}

/** Waits until the projectors of this release have marked streams as incomplete, and have quarantined none. */
const heldIncomplete = () =>
  vi.waitFor(
    async () => {
      const streams = await held()
      expect(new Set(streams.map(({ status }) => status))).toEqual(new Set(['INCOMPLETE']))
      expect(new Set(streams.map(({ id }) => id.split('-')[0]))).toEqual(new Set(['api', 'webhook']))
    },
    { timeout: READY_MS, interval: 500 },
  )
const nothingHeld = () =>
  vi.waitFor(async () => expect(await held()).toEqual([]), { timeout: READY_MS, interval: 500 })

/** Which releases wrote updates in a phase, by category, and the number of streams that both releases wrote. */
function writersIn(log: readonly RecordedEvent[], phase: string) {
  const updates = log.filter(
    event => commands.sent.get(event.metadata.requestId)?.phase === phase && writerOf(event) !== undefined,
  )
  const writers = new Set(updates.map(event => `${event.stream.split('-')[0]} ${writerOf(event)}`))
  const byStream = Map.groupBy(updates, ({ stream }) => stream).values()
  return { writers, shared: [...byStream].filter(events => new Set(events.map(writerOf)).size > 1).length }
}

interface Phase {
  name: string
  /** Changes the processes under load, before the phase. */
  change(): Promise<void>
  /** Releases that run during the phase. */
  releases: readonly Release[]
  /** Whether the log has what the test needs of the phase. */
  suffices?(log: readonly RecordedEvent[]): boolean
}

/** Sends commands while processes change and for some time afterwards. @returns the log once no command is under way */
async function phase({ name, change, releases, suffices = () => true }: Phase): Promise<RecordedEvent[]> {
  const startedAt = performance.now()
  const sentBefore = commands.sent.size
  commands.enter({ name: `before ${name}`, alone: false, replacing: true })
  commands.start()
  await change()
  commands.enter({ name, alone: releases.length === 1, replacing: false })
  const expected = {
    writers: new Set(releases.flatMap(release => [`api ${release}`, `webhook ${release}`])),
    shared: releases.length > 1 ? expect.toSatisfy((count: number) => count > 0) : 0,
  }
  const count = () => [...commands.sent.values()].filter(command => command.phase === name).length
  await vi.waitFor(
    async () => {
      expect(count()).toBeGreaterThan(COMMANDS)
      const log = await readLog()
      expect(writersIn(log, name)).toEqual(expected)
      expect(suffices(log)).toBe(true)
    },
    { timeout: PHASE_MS, interval: 1_000 },
  )
  await commands.stop()
  const log = await readLog()
  expect(writersIn(log, name)).toEqual(expected)
  expect(commands.failures).toEqual([])
  expect(misrecorded(log, commands.sent)).toEqual([])
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  process.stderr.write(`${name}: ${commands.sent.size - sentBefore} commands in ${seconds} s\n`)
  return log
}

const shown = async () => resourcesOf(await readRecords(topology))

/** Waits until clients read the result of all acknowledged commands. */
const everythingShown = (log: readonly RecordedEvent[]) =>
  vi.waitFor(async () => expect(await shown()).toEqual(expectedResources(log, commands.sent, 'next')), {
    timeout: READY_MS,
    interval: 500,
  })

/** Starts a command of the image of a release. */
function startCommand(release: Release, command: readonly string[]) {
  const { root } = releases[release]
  const options = { cwd: root, env: topology.environment }
  return promisify(execFile)(process.execPath, argumentsOfCommand(root, command), options)
}

/** Runs a command of the image of a release. */
const operate = async (release: Release, command: readonly string[]): Promise<string> =>
  (await startCommand(release, command)).stdout

/** What the chart does: makes read models, then replaces the services, and the gateways when these have the release. */
async function upgradeAll(): Promise<void> {
  expect(await operate('next', RUN.beforeServices)).toMatch(/All read models exist\n$/)
  let isGatewayAllowed = false
  const allowed = startCommand('next', RUN.beforeGateway)
  const waits = new Promise(resolve => allowed.child.stdout?.once('data', resolve))
  allowed.finally(() => {
    isGatewayAllowed = true
  })
  await replace(1, 'next')
  // A slow start of the command would find no replica of this release.
  await Promise.race([waits, allowed])
  expect(isGatewayAllowed).toBe(false)
  await replace(2, 'next')
  expect((await allowed).stdout).toMatch(/waits for .*a replica has release/)
  for (const number of [1, 2] as const) await replace(number, 'next', ['gateway'])
}

test('two releases on one log, a rollback and a second upgrade lose nothing', async () => {
  process.stderr.write(`UPGRADE_SEED=${SEED}\n`)
  await everythingShown(await phase({ name: 'this release', async change() {}, releases: ['this'] }))
  expect(await held()).toEqual([])

  // From here on the first replicas hold the leases. The first upgrade does not move them.
  await phase({ name: 'side by side', change: () => replace(2, 'next'), releases: ['this', 'next'] })
  await heldIncomplete()
  const besides = await phase({
    name: 'side by side, the next release projects',
    change: () => replace(1, 'this'),
    releases: ['this', 'next'],
    // After the rollback one of these is changed. A few of them may be deleted before.
    suffices: log => streamsIn(log).filter(({ mine, all }) => !isDeepStrictEqual(mine, all)).length > 3,
  })
  await nothingHeld()
  await everythingShown(besides)

  const rolledBack = await phase({
    name: 'rolled back',
    change: () => replace(2, 'this'),
    releases: ['this'],
    suffices: log => streamsIn(log).some(({ isOwn, mine, all }) => isOwn && !isDeepStrictEqual(mine, all)),
  })
  await heldIncomplete()
  const listed = JSON.parse(await operate('this', ['gantry', 'quarantine', 'list', '--json'])) as HeldStream[]
  // The list also has what other projectors of the services hold, each from its own checkpoint on.
  expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining((await held()).map(({ id }) => id)))
  await ownWritesShown(rolledBack)

  const upgraded = await phase({ name: 'upgraded again', change: upgradeAll, releases: ['next'] })
  await nothingHeld()
  await everythingShown(upgraded)

  const before = await readRecords(topology)
  expect(await operate('next', ['gantry', 'rebuild'])).toMatch(/All read models are rebuilt\n$/)
  expect(await readRecords(topology)).toEqual(before)
  expect(await held()).toEqual([])
  expect(await topology.logged('a stream is quarantined: an event cannot be processed')).toEqual([])
  expect(await topology.faults()).toEqual([])
})

/**
 * The streams of a log: whether this release wrote the stream last, after the rollback, and the states as this and as the next
 * release fold them.
 */
function streamsIn(log: readonly RecordedEvent[]) {
  const last = new Map(log.map(event => [event.stream, commands.sent.get(event.metadata.requestId)?.phase]))
  const [own, complete] = (['this', 'next'] as const).map(release =>
    expectedResources(log, commands.sent, release),
  )
  return [...last].map(([stream, phaseOfLast]) => ({
    stream,
    isOwn: phaseOfLast === 'rolled back',
    mine: own?.[stream],
    all: complete?.[stream],
  }))
}

/**
 * After the rollback a stream shows the state as this release folds it, if this release wrote it last. Otherwise it shows
 * the state that the next release projected before.
 */
async function ownWritesShown(log: readonly RecordedEvent[]): Promise<void> {
  const now = await shown()
  for (const { stream, isOwn, mine, all } of streamsIn(log))
    expect(isOwn ? [mine] : [mine, all]).toContainEqual(now[stream])
}
