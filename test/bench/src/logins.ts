import { Agent } from 'node:http'
import { startServiceProcess } from '@gantry/standalone/testing'
import { apiCreator, paced, timed } from './load.ts'
import { inFolder } from './processes.ts'
import { atMost, type Figure, progress } from './report.ts'
import { quantile } from './statistics.ts'

const ROUNDS = 5
const SECONDS = 3
const OTHERS_PER_SECOND = 100
const WRONG_PER_SECOND = 200

/** Durations of reads and writes in milliseconds, or ratios of them. */
interface Times {
  reads: number[]
  writes: number[]
}

/** (f) Durations of reads and writes during password guessing, relative to those without it. */
export async function logins(): Promise<Figure[]> {
  return inFolder(async folder => {
    const service = await startServiceProcess(folder, { LOGIN_LIMIT_PER_MINUTE: '0' })
    const headers = { authorization: service.authorization }
    const create = apiCreator(service)
    const one = `${service.url}/apis/${JSON.parse((await create()).text).id}`

    /** Nine reads for every write. */
    const others = async (): Promise<Times> => {
      const times: Times = { reads: [], writes: [] }
      await paced(OTHERS_PER_SECOND, SECONDS, async n => {
        const write = n % 10 === 0
        const { ms, status } = await (write ? create() : timed('GET', one, headers))
        if (status >= 300) throw new Error(`${write ? 'POST' : 'GET'} answered ${status}`)
        times[write ? 'writes' : 'reads'].push(ms)
      })
      return times
    }

    // A login that waits for its response occupies a connection.
    const agent = new Agent({ keepAlive: true })
    const answered = { wrong: 0, tooMany: 0 }
    const strangers = () =>
      paced(WRONG_PER_SECOND, SECONDS, async n => {
        const body = JSON.stringify({ username: `nobody-${n}`, password: 'a wrong password' })
        const { status } = await timed('POST', `${service.url}/login`, {}, body, agent)
        if (status === 401) answered.wrong++
        else if (status === 429) answered.tooMany++
        else throw new Error(`a wrong login answered ${status}`)
      })

    const ratios: Times = { reads: [], writes: [] }
    for (let round = 0; round <= ROUNDS; round++) {
      progress(`(f) ${WRONG_PER_SECOND} wrong logins a second, round ${round} of ${ROUNDS}`)
      const quiet = await others()
      const [disturbed] = await Promise.all([others(), strangers()])
      if (round === 0) continue
      for (const kind of ['reads', 'writes'] as const) {
        ratios[kind].push(quantile(disturbed[kind], 0.5) / quantile(quiet[kind], 0.5))
      }
    }
    agent.destroy()
    await service.stop()
    progress(
      `(f) ${answered.wrong} wrong logins got 401 (wrong password), ${answered.tooMany} got 429 (too many)`,
    )
    return Object.entries(ratios).map(([kind, all]) =>
      atMost(`(f) ${kind}, median, at ${WRONG_PER_SECOND} wrong logins a second to none`, all, 1.2),
    )
  })
}
