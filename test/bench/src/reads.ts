import { startServiceProcess } from '@gantry/standalone/testing'
import { throughput, timed } from './load.ts'
import { inFolder, startProgram } from './processes.ts'
import { type Figure, progress } from './report.ts'
import { sampleApi } from './sample-apis.ts'
import { shown, spread } from './statistics.ts'

const ROUNDS = 5
const SECONDS = 3
const CONNECTIONS = 16

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
      const ratios: number[] = []
      for (let round = 0; round <= ROUNDS; round++) {
        progress(`(a) ${name}, round ${round} of ${ROUNDS}`)
        const theirs = await throughput({
          url: bare.url,
          connections: CONNECTIONS,
          seconds: SECONDS,
          headers,
        })
        const ours = await throughput({ url, connections: CONNECTIONS, seconds: SECONDS, headers })
        // The first round is a warm-up.
        if (round > 0) ratios.push(ours / theirs)
      }
      await bare.stop()
      const ratio = spread(ratios)
      figures.push({
        name: `(a) ${name} to bare Fastify`,
        reached: shown(ratio),
        target: 'at least 0.6',
        met: ratio.median >= 0.6,
      })
    }
    await service.stop()
    return figures
  })
}
