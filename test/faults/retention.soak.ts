import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { expect, test } from 'vitest'

const DELIVERIES = Number(process.env.DELIVERIES)
const WEBHOOKS = 100
const APIS = 100
/** Maximum number of events whose deliveries have not all arrived. */
const AHEAD = 10
const SAMPLE_MS = 5_000
/** The shortest allowed retention: finished deliveries are removed after two to four minutes. */
const SETTINGS = {
  WEBHOOK_RETENTION: '1m',
  MESSAGE_RETENTION: '1m',
  // The receiver may answer late on a busy machine.
  WEBHOOK_RETRY_SCHEDULE: '1s,1s,1s,1s,1s',
}
/** By then the first removed records have been forgotten too: 4 minutes of retention and 12 minutes after the removal. */
const SETTLED_MS = 1_000_000
/** Deliveries are spread evenly over this time, in milliseconds, or made as fast as possible if they take longer. */
const LASTS_MS = Number(process.env.MINUTES) * 60_000
/**
 * How much higher a measure may be in the second half of the settled time than in the first. A file never shrinks, so its
 * size is compared with the highest number of records up to then, which depends on how busy the machine is.
 */
const FLAT = { file: 1.1, memory: 1.15, records: 1.25 }

const FILES = [
  'events.db',
  'events.db-wal',
  'messages.db',
  'messages.db-wal',
  'read-models.db',
  'read-models.db-wal',
]
const MEASURES = [...FILES, 'memory', 'records']

interface Sample {
  /** Milliseconds since the first delivery. */
  at: number
  delivered: number
  /** File sizes and memory in bytes, and the number of delivery records. */
  values: Record<string, number>
}

async function openReceiver() {
  let count = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      count++
      response.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, count: () => count, close: () => server.close() }
}

function callerOf({ url, authorization }: ServiceProcess) {
  return async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`)
    return (await answer.json()) as { id: string; totalElements: number }
  }
}
type Call = ReturnType<typeof callerOf>

async function valuesOf(folder: string, pid: number, call: Call): Promise<Sample['values']> {
  const sizes = FILES.map(async file => [file, (await stat(join(folder, file))).size] as const)
  const [, kilobytes] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? []
  const { totalElements } = await call('GET', '/webhooks/requests?size=1')
  return {
    ...Object.fromEntries(await Promise.all(sizes)),
    memory: Number(kilobytes) * 1024,
    records: totalElements,
  }
}

/**
 * Each measure in the first and in the second half of the settled samples: the highest number of records, bytes of a file
 * for each of the highest number of records up to then, and the median of the memory, which garbage collection varies.
 */
function halves(samples: readonly Sample[]) {
  const settled = samples.filter(({ at }) => at >= SETTLED_MS)
  const middle = ((settled[0]?.at ?? 0) + (settled.at(-1)?.at ?? 0)) / 2
  const mostRecords = (half: Sample[]) => {
    const until = half.at(-1)?.at ?? 0
    return Math.max(...samples.filter(({ at }) => at <= until).map(({ values }) => values.records ?? 0))
  }
  const of = (half: Sample[], measure: string) => {
    const ascending = half.map(({ values }) => values[measure] ?? 0).toSorted((a, b) => a - b)
    if (measure === 'memory') return ascending.at(ascending.length / 2) ?? Number.NaN
    const highest = ascending.at(-1) ?? Number.NaN
    return FILES.includes(measure) ? highest / mostRecords(half) : highest
  }
  const first = settled.filter(({ at }) => at < middle)
  const second = settled.filter(({ at }) => at >= middle)
  return MEASURES.map(measure => ({ measure, first: of(first, measure), second: of(second, measure) }))
}

test(`${DELIVERIES} deliveries with retention: disk and memory stop growing`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-retention-'))
  const receiver = await openReceiver()
  const service = await startServiceProcess(folder, SETTINGS)
  const call = callerOf(service)
  const samples: Sample[] = []
  const ending = new AbortController()
  try {
    for (let n = 0; n < WEBHOOKS; n++) {
      const url = `${receiver.url}/${n}`
      await call('POST', '/webhooks', {
        displayName: `soak ${n}`,
        url,
        active: true,
        eventTypes: ['API_UPDATED'],
      })
    }
    const apis: string[] = []
    for (let n = 0; n < APIS; n++) apis.push((await call('POST', '/apis', api(n, 'made'))).id)

    const startedAt = performance.now()
    const sampling = (async () => {
      while (!ending.signal.aborted) {
        const at = performance.now() - startedAt
        const sample = { at, delivered: receiver.count(), values: await valuesOf(folder, service.pid, call) }
        samples.push(sample)
        if (samples.length % 6 === 0) process.stderr.write(`${lineOf(sample)}\n`)
        await setTimeout(SAMPLE_MS, undefined, { signal: ending.signal }).catch(() => {})
      }
    })()
    const events = DELIVERIES / WEBHOOKS
    for (let made = 0; made < events; made++) {
      const tooEarly = () => (performance.now() - startedAt) * events < made * LASTS_MS
      while (tooEarly() || made * WEBHOOKS - receiver.count() > AHEAD * WEBHOOKS) await setTimeout(5)
      const n = made % APIS
      await call('PUT', `/apis/${apis[n]}`, api(n, `event ${made}`))
    }
    while (receiver.count() < DELIVERIES) await setTimeout(50)
    const seconds = (performance.now() - startedAt) / 1_000
    ending.abort()
    await sampling
    process.stderr.write(`${DELIVERIES} deliveries in ${seconds.toFixed(0)} s\n`)
  } finally {
    ending.abort()
    await service.stop()
    receiver.close()
    await rm(folder, { recursive: true })
  }

  // A run with fewer deliveries ends before anything is removed.
  expect(samples.filter(({ at }) => at >= SETTLED_MS).length).toBeGreaterThan(20)
  const both = halves(samples)
  for (const { measure, first, second } of both)
    process.stderr.write(`${measure}: ${compared(measure, first)}, then ${compared(measure, second)}\n`)
  const allowed = (measure: string) =>
    measure === 'memory' || measure === 'records' ? FLAT[measure] : FLAT.file
  const grown = both.filter(({ measure, first, second }) => !(second <= first * allowed(measure)))
  expect(grown).toEqual([])
})

const api = (n: number, description: string) => ({
  name: `soak ${n}`,
  displayName: `Soak ${n}`,
  description,
  url: `/soak/${n}`,
  status: 'ACTIVE',
  tags: [],
  platformType: 'ENVOY',
})
const shown = (measure: string, value: number) =>
  measure === 'records' ? String(value) : `${(value / 1e6).toFixed(1)} MB`
const compared = (measure: string, value: number) =>
  FILES.includes(measure) ? `${value.toFixed(0)} bytes for each record` : shown(measure, value)
const lineOf = ({ at, delivered, values }: Sample) =>
  [
    `${(at / 1_000).toFixed(0)} s`,
    `${delivered} delivered`,
    ...MEASURES.map(measure => `${measure} ${shown(measure, values[measure] ?? 0)}`),
  ].join(', ')
