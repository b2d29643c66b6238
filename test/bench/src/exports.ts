import { startServiceProcess } from '@gantry/standalone/testing'
import { download } from './download.ts'
import { inFolder, restingAt } from './processes.ts'
import { atLeast, type Figure, progress } from './report.ts'
import { seed, untilAudited } from './sample-apis.ts'
import { shown, spread } from './statistics.ts'

const RECORDS = Number(process.env.RECORDS ?? 1_000_000)
const PER_API = 10
const RUNS = 3
const MEMORY_MB = 50

/** (x) Exports of the whole audit log, as NDJSON with proofs, one after the other. */
export async function exports(): Promise<Figure[]> {
  return inFolder(async folder => {
    progress(`(x) writes ${RECORDS} events`)
    await seed(folder, RECORDS / PER_API, PER_API - 1)
    progress('(x) builds the read models from the log')
    const first = await startServiceProcess(folder)
    await untilAudited(first, RECORDS)
    await restingAt(first.pid)
    await first.stop()

    const service = await startServiceProcess(folder)
    await restingAt(service.pid)
    const rates: number[] = []
    const growth: number[] = []
    for (let run = 1; run <= RUNS; run++) {
      progress(`(x) exports the audit log, ${run} of ${RUNS}`)
      const { rate, megabytes } = await download(service, '/auditLog/export?format=ndjson', RECORDS)
      rates.push(rate)
      growth.push(megabytes)
    }
    await service.stop()
    const memory = spread(growth)
    return [
      atLeast('(x) audit records exported over HTTP a second', rates, 20_000),
      {
        name: `(x) memory while ${RECORDS} records are exported, above that before`,
        reached: shown(memory, ' MB'),
        target: `under ${MEMORY_MB} MB`,
        met: memory.max < MEMORY_MB,
      },
    ]
  })
}
