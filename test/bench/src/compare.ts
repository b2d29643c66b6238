import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { ADMINISTRATOR, startServiceProcess } from '@gantry/standalone/testing'
import { timed } from './load.ts'
import { inFolder, type Running, restingAt, startProgram } from './processes.ts'
import { type Figure, progress } from './report.ts'
import { sampleApi } from './sample-apis.ts'
import { quantile, shown, spread } from './statistics.ts'

const PAIRS = 10
/** Turns that the two releases of a pair take in each operation. */
const TURNS = 4
const CONNECTIONS = 8
const WARM_UP = 0.3

/** Operations in the order of their measurement, each with the number of requests. */
const OPERATIONS = {
  'create an API': 2_000,
  'read an API': 20_000,
  'update an API': 1_500,
  'list of ten APIs': 8_000,
  'POST /events to the delivery': 1_500,
  login: 30,
}
type Operation = keyof typeof OPERATIONS
type Times = Record<Operation, number>
type Side = 'before' | 'after'

/** Settings of a process that records a tenth of the traces. */
const traced = (collector: string): NodeJS.ProcessEnv => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: collector,
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '0.1',
})

/** What runs on a side of a pair. */
interface Compared {
  side: Side
  /** Folder of the release. Default: this one. */
  checkout?: string
  settings?: NodeJS.ProcessEnv
}

/**
 * (k) Processor time per operation, compared with another release, or with tracing compared to without. Each pair is two
 * new processes on new data folders that take turns in each operation, so that both meet the same changes of the machine's
 * speed. The times include the work that follows the response.
 */
export async function compare({
  before,
  tracing = false,
  pairs = PAIRS,
}: {
  before?: string
  tracing?: boolean
  pairs?: number
}): Promise<Figure[]> {
  if (!before && !tracing) return []
  const collector = tracing ? await startProgram('collector', {}) : undefined
  const sides: Compared[] = [
    { side: 'before', ...(before && { checkout: before }) },
    { side: 'after', ...(collector && { settings: traced(collector.url) }) },
  ]
  const measured: Record<Side, Times>[] = []
  try {
    for (let pair = 1; pair <= pairs; pair++) {
      progress(`(k) pair ${pair} of ${pairs}`)
      measured.push(await timesOf(pair % 2 ? sides : sides.toReversed()))
    }
  } finally {
    await collector?.stop()
  }
  const compared = [before && 'to the earlier release', tracing && 'with a tenth of the traces to without']
  return figuresOf(measured, compared.filter(Boolean).join(', '))
}

function figuresOf(measured: readonly Record<Side, Times>[], compared: string): Figure[] {
  return (Object.keys(OPERATIONS) as Operation[]).map(operation => {
    const ratios = spread(measured.map(({ before, after }) => after[operation] / before[operation]))
    const median = (side: Side) =>
      quantile(
        measured.map(pair => pair[side][operation]),
        0.5,
      )
    return {
      name: `(k) ${operation}, processor time ${compared}`,
      reached: `×${shown(ratios)}, ${median('before').toFixed(0)} to ${median('after').toFixed(0)} µs`,
      target: 'at most ×1.05, or a pair below ×1',
      met: ratios.median <= 1.05 || ratios.min < 1,
    }
  })
}

/** Microseconds of processor time per operation of two new processes. */
const timesOf = (sides: readonly Compared[]): Promise<Record<Side, Times>> =>
  inFolder(async folder => {
    const opened: Measured[] = []
    try {
      for (const compared of sides) opened.push(await open(compared, folder))
      for (const operation of Object.keys(OPERATIONS) as Operation[]) {
        for (const { operations } of opened)
          await repeated(OPERATIONS[operation] * WARM_UP, operations[operation])
        for (let turn = 0; turn < TURNS; turn++)
          for (const process of turn % 2 ? opened.toReversed() : opened) await measure(process, operation)
      }
      return Object.fromEntries(opened.map(({ side, times }) => [side, times])) as Record<Side, Times>
    } finally {
      for (const { close } of opened) await close()
    }
  })

/** A running process and its times so far. */
interface Measured {
  side: Side
  pid: number
  operations: Record<Operation, () => Promise<unknown>>
  times: Times
  close(): Promise<void>
}

async function open({ side, checkout, settings }: Compared, folder: string): Promise<Measured> {
  const receiver = await startProgram('receiver', {})
  const service = await startServiceProcess(
    join(folder, side),
    { LOGIN_LIMIT_PER_MINUTE: '0', ...settings },
    checkout,
  )
  return {
    side,
    pid: service.pid,
    operations: await operationsOn(service, receiver),
    times: Object.fromEntries(Object.keys(OPERATIONS).map(operation => [operation, 0])) as Times,
    async close() {
      await service.stop()
      await receiver.stop()
    },
  }
}

/** Adds the time of one turn. */
async function measure({ pid, operations, times }: Measured, operation: Operation): Promise<void> {
  const requests = OPERATIONS[operation]
  const from = await restingAt(pid)
  await repeated(requests / TURNS, operations[operation])
  times[operation] += ((await restingAt(pid)) - from) / requests
}

/** Makes the request of each operation. */
async function operationsOn(
  { url, authorization }: { url: string; authorization: string },
  receiver: Running,
): Promise<Record<Operation, () => Promise<unknown>>> {
  const request = async (method: string, path: string, body?: object) => {
    const answer = await timed(method, `${url}${path}`, { authorization }, body && JSON.stringify(body))
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${answer.text}`)
    return answer.text
  }
  await request('POST', '/webhooks', {
    displayName: 'bench',
    url: `${receiver.url}/hook`,
    active: true,
    eventTypes: ['SUBSCRIPTION_CREATED'],
  })
  const ids: string[] = []
  let made = 0
  const any = () => made++ % ids.length
  return {
    'create an API': async () =>
      void ids.push(JSON.parse(await request('POST', '/apis', sampleApi(made++))).id),
    'read an API': () => request('GET', `/apis/${ids[any()]}`),
    'update an API': () => {
      const index = any()
      return request('PUT', `/apis/${ids[index]}`, { ...sampleApi(made), name: `updated-${index}` })
    },
    'list of ten APIs': () => request('GET', '/apis?size=10'),
    'POST /events to the delivery': () =>
      request('POST', '/events', {
        specversion: '1.0',
        id: randomUUID(),
        source: '/bench',
        type: 'SUBSCRIPTION_CREATED',
        data: { made: made++ },
      }),
    login: () => request('POST', '/login', ADMINISTRATOR),
  }
}

async function repeated(times: number, work: () => Promise<unknown>): Promise<void> {
  const waiting = Array.from({ length: Math.ceil(times) }).values()
  const connections = Array.from({ length: CONNECTIONS }, async () => {
    for (const _ of waiting) await work()
  })
  await Promise.all(connections)
}
