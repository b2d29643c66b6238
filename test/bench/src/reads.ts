import { gantryClient } from '@gantry/client'
import { startServiceProcess } from '@gantry/standalone/testing'
import { inTurn, throughput } from './load.ts'
import { inFolder, startProgram } from './processes.ts'
import { atLeast, type Figure } from './report.ts'
import { sampleApi } from './sample-apis.ts'

/** (a) Reads against a bare Fastify route that returns the same JSON from memory: ratio of responses per second. */
export async function reads(): Promise<Figure[]> {
  return inFolder(async folder => {
    const service = await startServiceProcess(folder)
    const headers = { authorization: service.authorization }
    const gantry = gantryClient({ baseUrl: service.url, token: service.authorization })
    for (let index = 1; index < 100; index++) await gantry.createApi({ body: sampleApi(index) })
    const { body: one } = await gantry.createApi({ body: sampleApi(0) })
    const { body: list } = await gantry.listApis({ size: 10 })
    const figures: Figure[] = []
    for (const [name, path, answer] of [
      ['GET /apis/{id}', `/apis/${one.id}`, one],
      ['GET /apis?size=10', '/apis?size=10', list],
    ] as const) {
      const bare = await startProgram('bare', { ANSWER: JSON.stringify(answer) })
      const { ratios } = await inTurn(
        `(a) ${name}`,
        () => throughput({ url: bare.url, headers }),
        () => throughput({ url: `${service.url}${path}`, headers }),
      )
      await bare.stop()
      figures.push(atLeast(`(a) ${name} to bare Fastify`, ratios, 0.6))
    }
    await service.stop()
    return figures
  })
}
