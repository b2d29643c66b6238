import { setTimeout } from 'node:timers/promises'
import { startServiceProcess } from '@gantry/standalone/testing'
import { timed } from './load.ts'
import { inFolder, restingAt } from './processes.ts'
import { type Figure, progress, withoutTarget } from './report.ts'
import { DAY_MS, FIRST_DAY, sampleApi, seed } from './sample-apis.ts'
import { quantile } from './statistics.ts'

const SIZE = Number(process.env.APIS ?? 100_000)
const UPDATES = 2
const REQUESTS = 200
/** One of so many requests follows a write, which its answer has to include. */
const AFTER_WRITES = 8

const KINDS = {
  'one API': { most: 50, paths: (id: string) => [`/apis/${id}`, `/apis/${id}/versions`] },
  'a list': {
    most: 500,
    paths: () =>
      [
        'page=1',
        'page=7&size=20',
        'page=500',
        'size=100',
        'status=ACTIVE',
        'tags=financial',
        'tags=cloud&status=ACTIVE&page=2',
        'sort=createdAt,desc',
        'sort=displayName,desc&tags=analytics',
        'deployed=true',
      ].map(query => `/apis?${query}`),
  },
  'a search': {
    most: 500,
    paths: () =>
      ['api', 'payment', 'azure resource', 'ti', 'x', 'no-such-word-anywhere'].map(
        text => `/apis?text=${encodeURIComponent(text)}`,
      ),
  },
}

/** (w) APIs as they were at random times of their history: p95 in milliseconds, and the time to make it from the log. */
export async function history(): Promise<Figure[]> {
  return inFolder(async folder => {
    progress(`(w) writes ${SIZE} APIs with ${UPDATES} updates each`)
    const ids = await seed(folder, SIZE, UPDATES)
    progress('(w) makes the read models from the log')
    const startedAt = performance.now()
    const service = await startServiceProcess(folder)
    const headers = { authorization: service.authorization }
    const readyAt = performance.now()
    const get = (path: string) => {
      const at = new Date(FIRST_DAY + Math.random() * (UPDATES + 2) * DAY_MS).toISOString()
      return timed('GET', `${service.url}${path}${path.includes('?') ? '&' : '?'}at=${at}`, headers)
    }
    for (const path of ['/apis', '/apis?text=api'])
      while ((await get(path)).status === 503) await setTimeout(500)
    const historyAt = performance.now()
    progress('(w) waits until all events are published')
    await restingAt(service.pid)
    const seconds = (from: number, to: number) => ((to - from) / 1_000).toFixed(0)
    const figures: Figure[] = [
      withoutTarget(
        `(w) ${SIZE * (UPDATES + 1)} events: ready after / history after`,
        `${seconds(startedAt, readyAt)} / ${seconds(startedAt, historyAt)} s`,
      ),
    ]
    for (const [kind, { most, paths }] of Object.entries(KINDS)) {
      progress(`(w) ${kind}`)
      const times: number[] = []
      const from = await restingAt(service.pid)
      for (let n = 0; n < REQUESTS; n++) {
        const id = ids[Math.floor(Math.random() * ids.length)] ?? ''
        if (n % AFTER_WRITES === 0) {
          const { name, ...api } = sampleApi(n)
          const body = JSON.stringify({ ...api, name: `${name}-${kind}-${n}`, displayName: 'changed' })
          await timed('PUT', `${service.url}/apis/${id}`, headers, body)
        }
        const of = paths(id)
        const path = of[n % of.length] ?? ''
        const { ms, status, text } = await get(path)
        if (status !== 200 && status !== 404) throw new Error(`${path} answered ${status}: ${text}`)
        times.push(ms)
      }
      const processor = (await restingAt(service.pid)) - from
      const p95 = quantile(times, 0.95)
      figures.push({
        name: `(w) ${kind} at an earlier time, p50 / p95, and mean processor time`,
        reached: `${quantile(times, 0.5).toFixed(1)} / ${p95.toFixed(1)} ms, ${(processor / 1_000 / times.length).toFixed(1)} ms`,
        target: `p95 under ${most} ms`,
        met: p95 < most,
      })
    }
    await service.stop()
    return figures
  })
}
