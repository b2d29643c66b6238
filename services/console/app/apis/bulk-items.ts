import { useQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { whenAdmitted } from '../parts/admitted.ts'
import { PAGE_SIZE } from './list-pages.ts'
import type { ApiList } from './search.ts'
import { isPicked, type Picked, type Selection } from './selection.ts'

/**
 * The selected APIs. If all of a list are selected they are read when the dialog opens, so that it asks about those that
 * it will change.
 */
export const useBulkItems = (list: ApiList, selection: Selection) =>
  useQuery({
    queryKey: ['bulk', list, selection.all ? [...selection.except.keys()] : [...selection.picked.keys()]],
    queryFn: ({ signal }) =>
      selection.all ? allOf(list, selection, signal) : [...selection.picked.values()],
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })

async function allOf(list: ApiList, selection: Selection, signal: AbortSignal): Promise<Picked[]> {
  const found = new Map<string, Picked>()
  for (let page = 1, last = false; !last; page++) {
    const query = { ...list, page, size: PAGE_SIZE }
    const body = await whenAdmitted(() => answer(client.listApis(query, { signal })), signal)
    for (const api of body.content) if (isPicked(selection, api.id)) found.set(api.id, api)
    last = body.last
  }
  return [...found.values()]
}
