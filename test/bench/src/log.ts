import { join } from 'node:path'
import { sqliteEventStore } from '@gantry/embedded'
import { START } from '@gantry/event-sourcing'
import { startServiceProcess } from '@gantry/standalone/testing'
import { inFolder } from './processes.ts'
import { type Figure, progress } from './report.ts'
import { seed } from './sample-apis.ts'
import { shown, spread } from './statistics.ts'

const EVENTS = 1_000_000
const PER_API = 10
const RUNS = 3

/** (d) A log of a million events: how fast it is replayed and projected, and how long a start takes. */
export async function log(): Promise<Figure[]> {
  return inFolder(async folder => {
    progress(`(d) writes ${EVENTS} events`)
    const path = join(folder, 'events.db')
    const eventStore = sqliteEventStore({ path })
    await seed(eventStore, EVENTS / PER_API, PER_API - 1)

    const rates: number[] = []
    for (let run = 0; run < RUNS; run++) {
      progress(`(d) replays the log, ${run + 1} of ${RUNS}`)
      const startedAt = performance.now()
      let seen = 0
      for await (const event of eventStore.readAll({ after: START })) if (event.revision >= 0) seen++
      rates.push(seen / ((performance.now() - startedAt) / 1000))
    }
    await eventStore.close()

    progress('(d) makes the read models from the log')
    const first = await startServiceProcess(folder)
    await first.stop()
    const starts: number[] = []
    for (let run = 0; run < RUNS; run++) {
      progress(`(d) starts, ${run + 1} of ${RUNS}`)
      const service = await startServiceProcess(folder)
      starts.push(service.readyInMs / 1000)
      await service.stop()
    }
    const [rate, start] = [spread(rates), spread(starts)]
    return [
      {
        name: '(d) events replayed a second',
        reached: shown(rate),
        target: 'at least 100,000',
        met: rate.median >= 100_000,
      },
      {
        name: '(d) events projected a second, all read models from nothing',
        reached: shown(spread([EVENTS / (first.readyInMs / 1000)])),
        target: 'no target',
        met: undefined,
      },
      {
        name: '(d) start with 1,000,000 events',
        reached: shown(start, ' s'),
        target: 'under 3 s',
        met: start.median < 3,
      },
    ]
  })
}
