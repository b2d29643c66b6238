import { keepPreviousData, queryOptions, useQueries } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import type { Query, Schemas, Sort } from '../http/schemas.ts'
import { type AuditSearch, filtersOf } from './search.ts'

export type Entry = Schemas['AuditRecord']

/** The name of the user of an entry. A user who was erased, or whose name cannot be read, has none. */
export const userName = ({ user: { id, username } }: Entry) => username ?? `Erased or unknown user ${id}`

/** Entries that are read at once. */
const PAGE = 100

const entriesPage = (search: AuditSearch, page: number) => {
  const { sort = 'timestamp,desc' } = search
  // Entries that the order does not tell apart are in the order of time.
  const order: Sort<'listAuditLog'>[] = sort.startsWith('timestamp') ? [sort] : [sort, 'timestamp,desc']
  const query: Query<'listAuditLog'> = { ...filtersOf(search), sort: order, page, size: PAGE }
  return queryOptions({
    queryKey: ['audit', 'entries', query],
    queryFn: ({ signal }) => answer(client.listAuditLog(query, { signal })),
  })
}

/** The entries around those in sight, and the number of all. The first page is always read. */
export function useEntries(search: AuditSearch, first: number, last: number) {
  const pageOf = (index: number) => Math.floor(Math.max(index, 0) / PAGE) + 1
  const wanted = new Set([1])
  for (let page = pageOf(first); page <= pageOf(last); page++) wanted.add(page)
  const pages = [...wanted]
  return useQueries({
    queries: pages.map(page => entriesPage(search, page)),
    combine(results) {
      const [begin] = results
      const contents = new Map(pages.map((page, index) => [page, results[index]?.data?.content]))
      return {
        total: begin?.data?.totalElements ?? 0,
        isPending: begin?.isPending ?? true,
        isFetching: results.some(({ isFetching }) => isFetching),
        error: results.find(({ isError }) => isError)?.error,
        entry: (index: number): Entry | undefined => contents.get(pageOf(index))?.[index % PAGE],
      }
    },
  })
}

/** An entry by its id and its time, which all entries of one request share. */
export const entryAt = (id: string, at: string) => {
  const times = { from: at, to: new Date(Date.parse(at) + 1).toISOString() }
  return queryOptions({
    queryKey: ['audit', 'entry', id, at],
    queryFn: async ({ signal }) => {
      for (let page = 1; ; page++) {
        const query: Query<'listAuditLog'> = { ...times, page, size: PAGE }
        const { content, last } = await answer(client.listAuditLog(query, { signal }))
        const found = content.find(entry => entry.id === id)
        if (found || last) return found ?? null
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
  })
}
