import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gantryClient, logIn } from '@gantry/client'
import { type Cluster, readClusterSettings, startCluster } from '@gantry/cluster'
import { sqliteReadModels } from '@gantry/embedded'
import { requestRebuild } from '@gantry/event-sourcing'
import { freePort } from '@gantry/service-runtime/testing'
import { inTurn, throughput, timed } from './load.ts'
import { inFolder, startProgram } from './processes.ts'
import { atLeast, type Figure, progress } from './report.ts'
import { sampleApi, seed, untilAudited } from './sample-apis.ts'
import { quantile, shown, spread } from './statistics.ts'

const SIZES = [1_000, 100_000]
const REQUESTS = 600
const WARMING = 1_000
const POLL_MS = 100

/** The measured lists; reads of one API by its id are measured as well. */
const LISTS = ['page=1', 'tags=financial', 'tags=cloud&status=ACTIVE&page=2', 'text=payment']

export interface RunningCluster extends Cluster {
  authorization: string
}

/**
 * (h) Services as separate processes, with the log and the read models in shared files, and real NATS if available. The
 * cost of these substitutes says nothing about EventStoreDB and MongoDB.
 */
export async function cluster(): Promise<Figure[]> {
  return [...(await passingOn()), ...(await growing())]
}

/** Starts a cluster on the data of a folder, and logs in. */
async function startIn(folder: string, replicas: number): Promise<RunningCluster> {
  const settings = readClusterSettings({
    ...process.env,
    DATA_DIR: folder,
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    LOG_LEVEL: 'warn',
    EVENT_STORE_URL: `sqlite:${join(folder, 'events.db')}`,
    READ_MODEL_URL: `sqlite:${join(folder, 'read-models.db')}`,
  })
  const environment = { ...process.env, RATE_LIMIT_PER_MINUTE: '0', LOGIN_LIMIT_PER_MINUTE: '0' }
  const running = await startCluster({ settings, replicas, environment, say: progress })
  return loggedIn(running, settings.administrator)
}

/** Logs in to a cluster as its administrator. */
export async function loggedIn(
  running: Cluster,
  administrator: { username: string; password: string },
): Promise<RunningCluster> {
  const token = await logIn({ baseUrl: running.url, ...administrator })
  return { ...running, authorization: `Bearer ${token}` }
}

/** The gateway against a bare proxy, and two replicas against one: ratios of responses per second. */
async function passingOn(): Promise<Figure[]> {
  return inFolder(async folder => {
    let running = await startIn(folder, 1)
    const gantry = gantryClient({ baseUrl: running.url, token: running.authorization })
    const { body: api } = await gantry.createApi({ body: sampleApi(0) })
    const bare = await startProgram('bare', { ANSWER: JSON.stringify(api) })
    const proxy = await startProgram('bare-proxy', { UPSTREAM: bare.url })
    const ours = () => {
      const { url, authorization } = running
      return throughput({ url: `${url}/apis/${api.id}`, headers: { authorization } })
    }
    const { rates, ratios } = await inTurn(
      '(h) the gateway and a bare proxy',
      () => throughput({ url: proxy.url }),
      ours,
    )
    await Promise.all([proxy.stop(), bare.stop()])
    await running.stop()

    running = await startIn(folder, 2)
    const one = spread(rates).median
    const { ratios: together } = await inTurn('(h) two replicas', async () => one, ours)
    await running.stop()
    return [
      atLeast(
        '(h) GET /apis/{id} through the gateway to a bare route behind @fastify/http-proxy',
        ratios,
        0.5,
      ),
      {
        name: '(h) the same with two replicas of each service to one',
        reached: shown(spread(together)),
        target: 'at least 1.6 with cores for it',
        met: undefined,
      },
    ]
  })
}

/** Response times as the number of APIs grows, and the speed of a rebuild. */
async function growing(): Promise<Figure[]> {
  const p50: Record<'one' | 'lists', number[]> = { one: [], lists: [] }
  const made: number[] = []
  for (const size of SIZES) {
    await inFolder(async folder => {
      progress(`(h) writes ${size} APIs`)
      const ids = await seed(folder, size)
      const running = await startIn(folder, 1)
      const { url, authorization } = running
      progress(`(h) waits for the audit log of ${size} APIs`)
      await untilAudited(running, size)
      const asked = {
        one: ids.slice(0, 50).map(id => `/apis/${id}`),
        lists: LISTS.map(query => `/apis?${query}`),
      }
      const times: Record<keyof typeof asked, number[]> = { one: [], lists: [] }
      progress(`(h) reads of ${size} APIs`)
      // Alternately, so that other load affects both. The first requests load the data for lists and do not count.
      for (let n = 0; n < REQUESTS + WARMING; n++) {
        for (const kind of ['one', 'lists'] as const) {
          const paths = asked[kind]
          const { ms, status } = await timed('GET', `${url}${paths[n % paths.length]}`, { authorization })
          if (status !== 200) throw new Error(`a read answered ${status}`)
          if (n >= WARMING) times[kind].push(ms)
        }
      }
      for (const kind of ['one', 'lists'] as const) p50[kind].push(quantile(times[kind], 0.5))
      progress(`(h) rebuilds the read models of ${size} APIs`)
      const readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
      const startedAt = performance.now()
      const isDone = await requestRebuild('catalog.projector', readModels, 'bench')
      while (!(await isDone())) await setTimeout(POLL_MS)
      made.push(size / ((performance.now() - startedAt) / 1000))
      await readModels.close()
      await running.stop()
    })
  }
  const grown = Object.entries(p50).map(([kind, [small = 0, large = 0]]) => ({
    name: `(h) ${kind === 'one' ? 'GET /apis/{id}' : 'lists and search'} through the gateway, p50 at 1,000 / 100,000`,
    reached: `${small.toFixed(2)} / ${large.toFixed(2)} ms, ×${(large / small).toFixed(2)}`,
    target: 'flat: at most ×1.5',
    met: large / small <= 1.5,
  }))
  const name = '(h) events a second into a read model that is made anew while it is read, of 100,000'
  return [...grown, atLeast(name, made.slice(-1), 10_000)]
}
