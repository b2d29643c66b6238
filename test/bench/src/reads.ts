import { startServiceProcess } from '@gantry/standalone/testing'
import { inTurn, throughput, timed } from './load.ts'
import { inFolder, startProgram } from './processes.ts'
import { atLeast, type Figure } from './report.ts'
import { sampleApi } from './sample-apis.ts'

/** (a) Reads against a bare Fastify route that returns the same JSON from memory: ratio of responses per second. */
export async function reads(): Promise<Figure[]> {
  return inFolder(async folder => {
    const service = await startServiceProcess(folder)
    const headers = { authorization: service.authorization }
    const created = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        timed('POST', `${service.url}/apis`, headers, JSON.stringify(sampleApi(index))),
      ),
    )
    const one = `${service.url}/apis/${JSON.parse(created[0]?.text ?? '{}').id}`
    const list = `${service.url}/apis?size=10`
    const figures: Figure[] = []
    for (const [name, url] of [
      ['GET /apis/{id}', one],
      ['GET /apis?size=10', list],
    ] as const) {
      const bare = await startProgram('bare', { ANSWER: (await timed('GET', url, headers)).text })
      const { ratios } = await inTurn(
        `(a) ${name}`,
        () => throughput({ url: bare.url, headers }),
        () => throughput({ url, headers }),
      )
      await bare.stop()
      figures.push(atLeast(`(a) ${name} to bare Fastify`, ratios, 0.6))
    }
    await service.stop()
    return figures
  })
}
