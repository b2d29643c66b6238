import { join } from 'node:path'
import { startServiceProcess } from '@gantry/standalone/testing'
import { inTurn, throughput } from './load.ts'
import { inFolder, startProgram } from './processes.ts'
import { atLeast, type Figure, withoutTarget } from './report.ts'
import { sampleApi } from './sample-apis.ts'
import { shown, spread } from './statistics.ts'

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
      const load = { connections, method: 'POST', headers, body } as const
      const { ratios } = await inTurn(
        `(b) POST /apis at ${connections}`,
        () => throughput({ ...load, url: bare.url }),
        () => throughput({ ...load, url: `${service.url}/apis` }),
      )
      const name = `(b) POST /apis at ${connections} to bare Fastify and SQLite`
      figures.push(
        connections === 64 ? atLeast(name, ratios, 0.5) : withoutTarget(name, shown(spread(ratios))),
      )
    }
    await service.stop()
    await bare.stop()
    return figures
  })
}
