import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { isMainThread, Worker, workerData } from 'node:worker_threads'
import { gantryClient } from '@gantry/client'
import { largeOpenApi } from '@gantry/media/testing'
import { type ServiceProcess, startServiceProcess } from '@gantry/standalone/testing'
import { paced, timed } from './load.ts'
import { inFolder, restingAt } from './processes.ts'
import { atMost, type Figure, progress } from './report.ts'
import { sampleApi } from './sample-apis.ts'
import { quantile } from './statistics.ts'

const MIB = 1_048_576
const RUNS = 3
const AT_ONCE = 10
const READS_PER_SECOND = 100

/** (o) Documents: processor time, memory, and reads beside uploads. */
export async function documents(): Promise<Figure[]> {
  return inFolder(async folder => {
    const service = await startServiceProcess(folder, { MAX_DOCUMENTS_PER_VERSION: '1000' })
    const { url, authorization } = service
    const gantry = gantryClient({ baseUrl: url, token: authorization })
    const { body: api } = await gantry.createApi({ body: sampleApi(0) })
    await gantry.createVersion({ api_id: api.id, body: { name: '1' } })
    const upload = async (size: number, count = 1) => {
      const workerData: Uploads = { url, authorization, api_id: api.id, size, count }
      await once(new Worker(new URL(import.meta.url), { workerData }), 'exit')
    }
    await upload(1_000)
    const times: number[] = []
    for (let run = 1; run <= RUNS; run++) {
      progress(`(o) a document of 1 MiB, ${run} of ${RUNS}`)
      const before = await restingAt(service.pid)
      await upload(MIB)
      times.push(((await restingAt(service.pid)) - before) / 1e6)
    }
    const p95 = async (signal: AbortSignal): Promise<number> => {
      const taken: number[] = []
      while (!signal.aborted) {
        await paced(READS_PER_SECOND, 1, async () => {
          const { ms, status } = await timed('GET', `${url}/apis/${api.id}/versions/1`, { authorization })
          if (status !== 200) throw new Error(`GET answered ${status}`)
          taken.push(ms)
        })
      }
      return quantile(taken, 0.95)
    }
    const beside = async <T>(size: number, measure: (signal: AbortSignal) => Promise<T>): Promise<T> => {
      const uploads = new AbortController()
      const measured = measure(uploads.signal)
      await upload(size, AT_ONCE)
      uploads.abort()
      return measured
    }
    const memory: number[] = []
    const ratios: number[] = []
    for (let run = 1; run <= RUNS; run++) {
      progress(`(o) ${AT_ONCE} documents at once, ${run} of ${RUNS}`)
      await restingAt(service.pid)
      const quiet = await p95(AbortSignal.timeout(10_000))
      ratios.push((await beside(MIB, p95)) / quiet)
      await restingAt(service.pid)
      const idle = await memoryOf(service)
      memory.push((await beside(20 * MIB, signal => highest(service, signal))) - idle)
    }
    await service.stop()
    return [
      atMost('(o) processor time of a document of 1 MiB', times, 1.5, ' s'),
      atMost(
        `(o) memory while ${AT_ONCE} documents of 20 MiB arrive, above that before`,
        memory,
        300,
        ' MiB',
      ),
      atMost(`(o) p95 of reads beside ${AT_ONCE} documents of 1 MiB to none`, ratios, 1.5),
    ]
  })
}

/** Documents that a thread of its own sends at once, so that the reads do not wait for it. */
interface Uploads extends Pick<ServiceProcess, 'url' | 'authorization'> {
  api_id: string
  size: number
  count: number
}

if (!isMainThread) {
  const { url, authorization, api_id, size, count } = workerData as Uploads
  // The service is busy with other documents for a while.
  const gantry = gantryClient({ baseUrl: url, token: authorization, retries: 1_000 })
  const upload = (name: string) =>
    gantry.putDocument({ api_id, version_id: '1', name, body: Buffer.from(largeOpenApi(size, name)) })
  await Promise.all(Array.from({ length: count }, () => upload(randomUUID())))
}

/** Resident memory in MiB. */
async function memoryOf({ pid }: ServiceProcess): Promise<number> {
  return Number(/^VmRSS:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
}

async function highest(service: ServiceProcess, signal: AbortSignal): Promise<number> {
  let most = 0
  while (!signal.aborted) {
    most = Math.max(most, await memoryOf(service))
    await setTimeout(20)
  }
  return most
}
