import { join } from 'node:path'
import { startServiceProcess } from '@gantry/standalone/testing'
import { throughput } from './load.ts'
import { inFolder, startProgram } from './processes.ts'
import { type Figure, progress } from './report.ts'
import { sampleApi } from './sample-apis.ts'
import { shown, spread } from './statistics.ts'

const ROUNDS = 5
const SECONDS = 3

/** (b) Creating APIs against a bare Fastify route that inserts the same row durably into SQLite: requests per second. */
export async function writes(): Promise<Figure[]> {
  return inFolder(async folder => {
    const service = await startServiceProcess(join(folder, 'data'))
    const bare = await startProgram('bare', { DATABASE: join(folder, 'bare.db') })
    const headers = { authorization: service.authorization }
    let made = 0
    const body = () => JSON.stringify(sampleApi(made++))
    const figures: Figure[] = []
    for (const connections of [1, 64]) {
      const ratios: number[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        progress(`(b) POST /apis at ${connections}, round ${round} of ${ROUNDS}`)
        const load = { connections, seconds: SECONDS, method: 'POST', headers, body } as const
        const theirs = await throughput({ ...load, url: bare.url })
        const ours = await throughput({ ...load, url: `${service.url}/apis` })
        if (round > 0) ratios.push(ours / theirs)
      }
      const ratio = spread(ratios)
      const wanted =
        connections === 64
          ? { target: 'at least 0.5', met: ratio.median >= 0.5 }
          : { target: 'no target', met: undefined }
      figures.push({
        name: `(b) POST /apis at ${connections} to bare Fastify and SQLite`,
        reached: shown(ratio),
        ...wanted,
      })
    }
    await service.stop()
    await bare.stop()
    return figures
  })
}
