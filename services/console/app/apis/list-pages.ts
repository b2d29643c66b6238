import { useThrottledValue } from '@mantine/hooks'
import {
  hashKey,
  keepPreviousData,
  type QueryClient,
  queryOptions,
  type UseQueryResult,
  useQueries,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect } from 'react'
import { answer, client } from '../http/client.ts'
import type { Api, ApiList } from './search.ts'

/** The largest page of the service. */
export const PAGE_SIZE = 100
/** Pages that are not shown are forgotten after this time. */
const KEPT_MS = 60_000

/** A page of a list, from 1. */
export const pageQuery = (list: ApiList, page: number) =>
  queryOptions({
    queryKey: ['apis', 'page', list, page],
    queryFn: async ({ signal }) => {
      const query = { ...list, page, size: PAGE_SIZE }
      const { content, totalElements } = await answer(client.listApis(query, { signal }))
      return { list, content, total: totalElements }
    },
    gcTime: KEPT_MS,
  })

/** The number of the page with a row. @param index of the row, from 0 */
export const pageOf = (index: number): number => Math.floor(index / PAGE_SIZE) + 1

/**
 * The first page of a list: what it shows and its length. While another list is read, the earlier one stays; `data.list`
 * says which one it is.
 */
export const useFirstPage = (list: ApiList) =>
  useQuery({ ...pageQuery(list, 1), placeholderData: keepPreviousData })

/** Rows of a list by their index, as far as their pages are read. */
export interface LoadedRows {
  row(index: number): Api | undefined
  /** Numbers of the pages of the rows that are read, as text. */
  loadedPages: string
  /** Why a page of the rows cannot be read. */
  error: Error | null
  retry(): void
}

/** Minimum interval of page requests while the list scrolls, in milliseconds. */
const ASKING_MS = 150

/**
 * The rows from `firstRow` to `lastRow`, of pages that are read when they are shown. Requests for pages that are no longer
 * shown are aborted, so that a jump to any row needs one or two requests.
 */
export function useListedRows(list: ApiList, firstRow: number, lastRow: number): LoadedRows {
  const first = pageOf(firstRow)
  const last = pageOf(lastRow)
  const asked = useThrottledValue(first, ASKING_MS)
  const numbers = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  const pages = useQueries({
    queries: numbers.map(number => ({ ...pageQuery(list, number), enabled: asked === first })),
  })
  useConsistentLength(list, asked === first ? pages : [])
  return {
    row: index => pages[pageOf(index) - first]?.data?.content[index % PAGE_SIZE],
    loadedPages: numbers.filter((_, index) => pages[index]?.data).join(),
    error: pages.find(page => page.isError)?.error ?? null,
    retry: () => {
      for (const page of pages) if (page.isError) page.refetch()
    },
  }
}

/**
 * Reads a page again if the list had another length when the first page was read later, or else the first page. Rows that
 * the length promises would otherwise never be shown.
 */
function useConsistentLength(list: ApiList, pages: readonly UseQueryResult<{ total: number }>[]): void {
  const client = useQueryClient()
  useEffect(() => {
    const { queryKey } = pageQuery(list, 1)
    const first = client.getQueryState<{ total: number }>(queryKey)
    if (!first?.data || first.fetchStatus === 'fetching') return
    for (const page of pages) {
      if (!page.data || page.isFetching || page.data.total === first.data.total) continue
      if (page.dataUpdatedAt < first.dataUpdatedAt) page.refetch()
      else client.invalidateQueries({ queryKey, exact: true })
    }
  })
}

/** All rows of a list that have been read. */
export function readPages(client: QueryClient, list: ApiList): Api[] {
  const hash = hashKey([list])
  return client
    .getQueriesData<{ content: Api[] }>({
      queryKey: ['apis', 'page'],
      // A list as a part of the key would also match the lists with further filters.
      predicate: ({ queryKey }) => hashKey([queryKey[2]]) === hash,
    })
    .flatMap(([, data]) => data?.content ?? [])
}
