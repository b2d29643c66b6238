import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { sqliteBus } from '@gantry/embedded'
import { startServiceProcess } from '@gantry/standalone/testing'
import { download } from './download.ts'
import { apiCreator, paced } from './load.ts'
import { inFolder, restingAt, startProgram } from './processes.ts'
import { atLeast, type Figure, progress } from './report.ts'
import { sampleApi } from './sample-apis.ts'
import { shown, spread } from './statistics.ts'

const EVENTS = 1_000_000
const BATCH = 5_000
const RUNS = 3
const FOLLOWERS = 100
const WRITES_PER_SECOND = 100
const SECONDS = 5
const ROUNDS = 10
const MEMORY_MB = 50

/** (l) The event feed: export of a million events, and the processor time that followers cost. */
export async function events(): Promise<Figure[]> {
  return [...(await inFolder(exported)), ...(await inFolder(followed))]
}

async function exported(folder: string): Promise<Figure[]> {
  const path = join(folder, 'messages.db')
  progress(`(l) publishes ${EVENTS} events`)
  await fill(path)
  const reads: number[] = []
  for (let run = 0; run < RUNS; run++) {
    progress(`(l) reads the bus, ${run + 1} of ${RUNS}`)
    reads.push(await readRate(path))
  }
  const service = await startServiceProcess(folder)
  progress('(l) waits until the consumers of the service have read all events')
  await restingAt(service.pid)
  const rates: number[] = []
  const growth: number[] = []
  for (let run = 0; run < RUNS; run++) {
    progress(`(l) exports the feed, ${run + 1} of ${RUNS}`)
    const { rate, megabytes } = await download(service, '/events?type=API_CREATED', EVENTS)
    rates.push(rate)
    growth.push(megabytes)
  }
  await service.stop()
  const memory = spread(growth)
  return [
    atLeast('(l) events read from the bus a second', reads, 50_000),
    atLeast('(l) events exported over HTTP a second', rates, 20_000),
    {
      name: `(l) memory while ${EVENTS} events are exported, above idle`,
      reached: shown(memory, ' MB'),
      target: `under ${MEMORY_MB} MB`,
      met: memory.max < MEMORY_MB,
    },
  ]
}

/** Publishes events of a service that has no relay, so that no log has to contain them. */
async function fill(path: string) {
  const bus = sqliteBus({ path })
  for (let first = 1; first <= EVENTS; first += BATCH)
    await bus.publish(
      Array.from({ length: BATCH }, (_, index) => {
        const id = randomUUID()
        const event = {
          ...{ id, type: 'API_CREATED', source: 'archive', subject: id, revision: 0, requestId: id },
          time: new Date().toISOString(),
          data: { ...sampleApi(first + index), id },
          actor: { id, name: id },
        }
        const headers = { 'log-position': String(first + index).padStart(16, '0') }
        return { id, subject: 'events.archive.API_CREATED', data: event, headers }
      }),
    )
  await bus.close()
}

async function readRate(path: string): Promise<number> {
  const bus = sqliteBus({ path })
  const startedAt = performance.now()
  const { signal } = new AbortController()
  let count = 0
  for await (const _ of bus.read({ after: 0, live: false, subjects: ['events.>'], signal })) count++
  await bus.close()
  return count / ((performance.now() - startedAt) / 1_000)
}

async function followed(folder: string): Promise<Figure[]> {
  const service = await startServiceProcess(folder)
  const { url, authorization, pid } = service
  const create = apiCreator(service)
  const load = async () => {
    const before = await restingAt(pid)
    await paced(WRITES_PER_SECOND, SECONDS, create)
    return ((await restingAt(pid)) - before) / (WRITES_PER_SECOND * SECONDS)
  }
  const withFollowers = async () => {
    const following = await startProgram('following', {
      URL: `${url}/events?follow=true&from=${new Date().toISOString()}`,
      AUTHORIZATION: authorization,
      COUNT: String(FOLLOWERS),
    })
    await setTimeout(1_000)
    const used = await load()
    await following.stop()
    return used
  }
  await load()
  const alone: number[] = []
  const ratios: number[] = []
  for (let round = 1; round <= ROUNDS; round++) {
    progress(`(l) ${FOLLOWERS} followers, round ${round} of ${ROUNDS}`)
    const first = round % 2 ? await load() : await withFollowers()
    const second = round % 2 ? await withFollowers() : await load()
    const [without, beside] = round % 2 ? [first, second] : [second, first]
    alone.push(without)
    ratios.push(beside / without)
  }
  await service.stop()
  const ratio = spread(ratios)
  return [
    {
      name: `(l) processor time of ${WRITES_PER_SECOND} writes a second with ${FOLLOWERS} followers, to that without`,
      reached: `×${shown(ratio)}, ${shown(spread(alone))} µs for a write without followers`,
      target: 'at most ×1.25',
      met: ratio.median <= 1.25,
    },
  ]
}
