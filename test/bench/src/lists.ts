import { join } from 'node:path'
import { sqliteReadModels } from '@gantry/embedded'
import {
  type Collection,
  type Document,
  defineCollection,
  type Filter,
  type Query,
} from '@gantry/read-models'
import { inFolder } from './processes.ts'
import { type Figure, progress, withoutTarget } from './report.ts'
import { sampleApi } from './sample-apis.ts'
import { quantile } from './statistics.ts'

const SIZE = 100_000
const ROUNDS = 40
const BATCH = 500

/** The fields of catalog.apis that the queries use. */
interface ListedApi extends Document {
  name: string
  displayName: string
  description: string | null
  status: string
  owner: string
  tags: readonly string[]
  createdAt: string
  deployed: boolean
  environments: readonly string[]
}

const definition = defineCollection<ListedApi>({
  name: 'bench.apis',
  version: 1,
  fields: {
    name: 'string',
    displayName: 'string',
    status: 'string',
    owner: 'string',
    tags: 'strings',
    createdAt: 'string',
    deployed: 'boolean',
    environments: 'strings',
  },
  text: ['name', 'description'],
})

const document = (index: number): ListedApi => ({
  ...sampleApi(index),
  id: `${(Math.imul(index, 2_654_435_761) >>> 0).toString(16).padStart(8, '0')}-${index}`,
  owner: `owner-${index % 50}`,
  createdAt: new Date(Date.UTC(2026, 0, 1) + index * 1_000).toISOString(),
  deployed: index % 10 === 0,
  environments: index % 10 === 0 ? [`environment-${index % 3}`] : [],
})

const query = (more: Partial<Query> = {}): Query => ({
  sort: [{ field: 'name', direction: 'asc' }],
  limit: 10,
  ...more,
})
const descending = (field: string) => [{ field, direction: 'desc' as const }]

const QUERIES: Record<string, Query[]> = {
  pages: [query(), query({ skip: 120, limit: 20 }), query({ skip: 490 }), query({ limit: 100 })],
  filters: [
    query({ where: { status: 'ACTIVE' } }),
    query({ where: { tags: { all: ['financial'] } } }),
    query({ where: { tags: { all: ['cloud'] }, status: 'ACTIVE' }, skip: 10 }),
    query({ where: { owner: 'owner-3', deployed: true } }),
    query({ where: { environments: 'environment-1' } }),
  ],
  orders: [
    query({ sort: descending('createdAt') }),
    query({ where: { tags: { all: ['analytics'] } }, sort: descending('displayName') }),
    query({ sort: descending('status') }),
  ],
  texts: [
    query({ text: ['api'] }),
    query({ text: ['azure', 'resource'] }),
    query({ text: ['weather'] }),
    query({ text: ['no-such-word-anywhere'] }),
  ],
  'texts of one or two characters': [query({ text: ['ti'] }), query({ text: ['x'] })],
}

type Kind = 'memory' | 'file'

/**
 * (i) Lists of 100,000 APIs from an index in the file against lists from an index in memory: p95 of the same queries on the
 * same documents alternately, half of them after a write.
 */
export async function lists(): Promise<Figure[]> {
  return inFolder(async folder => {
    const exclusive = { exclusive: true, indexWaitMs: 600_000 }
    const stores = {
      memory: sqliteReadModels({ path: join(folder, 'memory.db'), ...exclusive, inMemoryBelow: 2 * SIZE }),
      file: sqliteReadModels({ path: join(folder, 'file.db'), ...exclusive, inMemoryBelow: 0 }),
    }
    const collections = {
      memory: stores.memory.collection(definition),
      file: stores.file.collection(definition),
    }
    const microseconds: Record<string, number> = {}
    for (const kind of ['memory', 'file'] as const) {
      progress(`(i) stores ${SIZE} APIs, listed from ${kind}`)
      const before = process.cpuUsage()
      for (let from = 0; from < SIZE; from += BATCH)
        await stores[kind].write(
          Array.from({ length: BATCH }, (_, n) => document(from + n)).map(doc => ({
            collection: definition,
            id: doc.id,
            doc,
            revision: 0,
          })),
        )
      const { user, system } = process.cpuUsage(before)
      microseconds[kind] = (user + system) / SIZE
      // Builds the indexes in memory. The index in the file was built with the documents.
      await collections[kind].find(query({ text: ['api'] }))
    }
    const figures: Figure[] = []
    for (const [name, queries] of Object.entries(QUERIES)) {
      progress(`(i) ${name}`)
      const p95 = await inTurn(collections, queries)
      figures.push({
        name: `(i) ${name} of ${SIZE} APIs, p95 from memory / from the file`,
        reached: `${p95.memory.toFixed(2)} / ${p95.file.toFixed(2)} ms, ×${(p95.file / p95.memory).toFixed(1)}`,
        target: 'at most ×1.5, or memory stays',
        met: undefined,
      })
    }
    progress('(i) facets')
    const [memory, file] = [await facetsOf(collections.memory), await facetsOf(collections.file)]
    figures.push(
      withoutTarget(
        `(i) all facets of ${SIZE} APIs, p95 from memory / from the file`,
        `${memory.toFixed(2)} / ${file.toFixed(2)} ms`,
      ),
    )
    figures.push(
      withoutTarget(
        '(i) processor time to store an API, without / with an index in the file',
        `${microseconds.memory?.toFixed(0)} / ${microseconds.file?.toFixed(0)} µs`,
      ),
    )
    for (const store of Object.values(stores)) await store.close()
    return figures
  })
}

/** p95 of the time for the facets of all fields that a console shows, in milliseconds; half of the times after a write. */
async function facetsOf(collection: Collection<ListedApi>): Promise<number> {
  const filters = [{}, ...(QUERIES.filters ?? []), ...(QUERIES.texts ?? [])]
  const times: number[] = []
  for (let round = 1; round <= ROUNDS / 4; round++) {
    for (const { where, text } of filters as Filter[]) {
      if (round % 2 === 0) await collection.put(document((round * 104_729) % SIZE), 1_000 + round)
      const startedAt = performance.now()
      for (const field of ['status', 'owner', 'tags', 'deployed', 'environments'])
        await collection.facet({ ...(where && { where }), ...(text && { text }) }, field, 100)
      times.push(performance.now() - startedAt)
    }
  }
  return quantile(times, 0.95)
}

async function inTurn(
  collections: Record<Kind, Collection<ListedApi>>,
  queries: readonly Query[],
): Promise<Record<Kind, number>> {
  const times: Record<Kind, number[]> = { memory: [], file: [] }
  for (let round = 1; round <= ROUNDS; round++) {
    const kinds: Kind[] = round % 2 === 0 ? ['memory', 'file'] : ['file', 'memory']
    for (const asked of queries) {
      const totals: number[] = []
      for (const kind of kinds) {
        const collection = collections[kind]
        if (round % 4 >= 2) await collection.put(document((round * 7_919) % SIZE), round)
        const startedAt = performance.now()
        const { total } = await collection.find(asked)
        times[kind].push(performance.now() - startedAt)
        totals.push(total)
      }
      if (totals[0] !== totals[1])
        throw new Error(`memory and file differ: ${JSON.stringify({ asked, totals })}`)
    }
  }
  return { memory: quantile(times.memory, 0.95), file: quantile(times.file, 0.95) }
}
