import { startServiceProcess } from '@gantry/standalone/testing'
import { timed } from './load.ts'
import { inFolder } from './processes.ts'
import { type Figure, progress } from './report.ts'
import { seed } from './sample-apis.ts'
import { quantile } from './statistics.ts'

const SIZES = [1_000, 10_000, 100_000]
const REQUESTS = 600

/** Typical lists: first and later pages, single and combined filters, and different orders. */
const LISTS = [
  'page=1',
  'page=7&size=20',
  'page=50',
  'size=100',
  'status=ACTIVE',
  'tags=financial',
  'tags=cloud&status=ACTIVE&page=2',
  'sort=createdAt,desc',
  'sort=displayName,desc&tags=analytics',
  'deployed=true',
]
/** Common and rare words, parts of words, two words, very short texts, and one without results. */
const TEXTS = [
  'api',
  'payment',
  'weather',
  'goo',
  'azure resource',
  'manage*',
  'ti',
  'x',
  'translate',
  'no-such-word-anywhere',
]

/** (c) Lists and text search as the number of APIs grows: p95 in milliseconds, and its growth. */
export async function search(): Promise<Figure[]> {
  const p95: Record<string, number[]> = { lists: [], texts: [] }
  for (const size of SIZES) {
    await inFolder(async folder => {
      progress(`(c) writes ${size} APIs`)
      await seed(folder, size)
      const service = await startServiceProcess(folder)
      const headers = { authorization: service.authorization }
      for (const [kind, queries] of [
        ['lists', LISTS],
        ['texts', TEXTS.map(text => `text=${encodeURIComponent(text)}`)],
      ] as const) {
        progress(`(c) ${kind} over ${size} APIs`)
        const times: number[] = []
        for (let n = 0; n < REQUESTS + 100; n++) {
          const { ms, status } = await timed(
            'GET',
            `${service.url}/apis?${queries[n % queries.length]}`,
            headers,
          )
          if (status !== 200) throw new Error(`a list answered ${status}`)
          if (n >= 100) times.push(ms)
        }
        p95[kind]?.push(quantile(times, 0.95))
      }
      await service.stop()
    })
  }
  return Object.entries(p95).map(([kind, [small = 0, middle = 0, large = 0]]) => ({
    name: `(c) ${kind === 'lists' ? 'list' : 'text search'}, p95 at 1,000 / 10,000 / 100,000`,
    reached: `${small.toFixed(2)} / ${middle.toFixed(2)} / ${large.toFixed(2)} ms, ×${(large / small).toFixed(2)}`,
    target: 'at most ×3',
    met: large / small <= 3,
  }))
}
