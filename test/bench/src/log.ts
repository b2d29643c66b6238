import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sqliteEventStore } from '@gantry/embedded'
import { START } from '@gantry/event-sourcing'
import { startServiceProcess } from '@gantry/standalone/testing'
import { timed } from './load.ts'
import { inFolder } from './processes.ts'
import { atLeast, type Figure, progress, withoutTarget } from './report.ts'
import { seed } from './sample-apis.ts'
import { quantile, shown, spread } from './statistics.ts'

const EVENTS = 1_000_000
const PER_API = 10
const RUNS = 3
const STARTS = 10

/**
 * (d) A log of a million events, each with a record in the audit log: speed of replay and projection, duration of a start,
 * and of the first page of the audit log after it.
 */
export async function log(): Promise<Figure[]> {
  return inFolder(async folder => {
    progress(`(d) writes ${EVENTS} events`)
    await seed(folder, EVENTS / PER_API, PER_API - 1)
    const eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
    const rates: number[] = []
    for (let run = 0; run < RUNS; run++) {
      progress(`(d) replays the log, ${run + 1} of ${RUNS}`)
      const startedAt = performance.now()
      let seen = 0
      for await (const event of eventStore.readAll({ after: START })) if (event.revision >= 0) seen++
      rates.push(seen / ((performance.now() - startedAt) / 1000))
    }
    await eventStore.close()

    progress('(d) builds the read models from the log')
    const first = await startServiceProcess(folder)
    await first.stop()
    const starts: number[] = []
    const pages: number[] = []
    const growth: number[] = []
    for (let run = 0; run < STARTS; run++) {
      progress(`(d) starts, ${run + 1} of ${STARTS}`)
      const service = await startServiceProcess(folder)
      starts.push(service.readyInMs / 1000)
      const before = await megabytesOf(service.pid)
      const { ms, status, text } = await timed('GET', `${service.url}/auditLog`, {
        authorization: service.authorization,
      })
      const { totalElements } = JSON.parse(text)
      if (status !== 200 || totalElements < EVENTS)
        throw new Error(`the audit log answered ${status} with ${totalElements} records`)
      pages.push(ms)
      growth.push((await megabytesOf(service.pid)) - before)
      await service.stop()
    }
    const start = spread(starts)
    return [
      atLeast('(d) events replayed a second', rates, 100_000),
      withoutTarget(
        '(d) events projected a second, all read models from nothing',
        shown(spread([EVENTS / (first.readyInMs / 1000)])),
      ),
      {
        name: '(d) start with 1,000,000 events',
        reached: shown(start, ' s'),
        target: 'under 3 s',
        met: start.median < 3,
      },
      {
        name: '(d) first page of 1,000,000 audit records after a start, p95',
        reached: `${quantile(pages, 0.95).toFixed(0)} ms, median ${shown(spread(pages), ' ms')}, ${shown(spread(growth), ' MB')} more memory`,
        target: 'under 100 ms',
        met: quantile(pages, 0.95) < 100,
      },
    ]
  })
}

/** The resident memory of a process, from /proc. */
export async function megabytesOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024
}
