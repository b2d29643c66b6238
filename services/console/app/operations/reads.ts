import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import { namedQuery, versionNameQuery } from '../parts/api-name.tsx'
import { type OperationFilter, queryOf } from '../parts/operation-filters.tsx'
import { bestOf, type Operation } from '../parts/operations.ts'

/** Each row has the names of its API and version, which are read one by one. */
const SIZE = 25
/** The largest page of the REST interface. */
const LARGEST = 100
/** With more hits the service's order remains: by path. */
const MOST_RANKED = 1_000
const FRESH_MS = 60_000

interface OperationsPage {
  content: Operation[]
  number: number
  totalPages: number
  totalElements: number
  /** Whether the operations that fit the words best come first. Otherwise they are sorted by path. */
  ranked: boolean
}

/** A page of operations. The names in its rows have been read, so that no row changes its height. */
export async function readOperations(filter: OperationFilter, signal: AbortSignal): Promise<OperationsPage> {
  const read = (await readRanked(filter)) ?? {
    ...(await answer(client.listOperations({ ...queryOf(filter), size: SIZE }, { signal }))),
    ranked: false,
  }
  const names = read.content.flatMap(({ api, version }) => [
    queries.prefetchQuery(namedQuery(api)),
    queries.prefetchQuery(versionNameQuery(api, version)),
  ])
  await Promise.all(names)
  return read
}

/** A page of all operations that have the words, the best ones first; undefined without words, and for too many to rank. */
async function readRanked({ page = 1, ...filter }: OperationFilter): Promise<OperationsPage | undefined> {
  const { q } = filter
  if (!q) return undefined
  const best = await queries.fetchQuery({
    queryKey: ['operations', 'best', filter],
    queryFn: async ({ signal }) => {
      const read = (page: number) =>
        answer(client.listOperations({ ...queryOf({ ...filter, page }), size: LARGEST }, { signal }))
      const first = await read(1)
      if (first.totalElements > MOST_RANKED) return null
      const others = Array.from({ length: Math.max(0, first.totalPages - 1) }, (_, index) => read(index + 2))
      const pages = [first, ...(await Promise.all(others))]
      return bestOf(
        pages.flatMap(({ content }) => content),
        q,
      )
    },
    staleTime: FRESH_MS,
  })
  return best
    ? {
        content: best.slice((page - 1) * SIZE, page * SIZE),
        number: page,
        totalPages: Math.ceil(best.length / SIZE),
        totalElements: best.length,
        ranked: true,
      }
    : undefined
}
