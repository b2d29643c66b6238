import { queryOptions, useQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { useAllowed } from '../http/session.ts'

const NAMES_MS = 60_000

/** The record of an API for its name. */
export const namedQuery = (id: string) =>
  queryOptions({
    queryKey: ['apis', 'name-of', id],
    retry: false,
    staleTime: NAMES_MS,
    queryFn: ({ signal }) => answer(client.getApi({ api_id: id }, { signal })),
  })

/** The record of a version for its name. */
export const versionNameQuery = (api: string, version: string) =>
  queryOptions({
    queryKey: ['api', api, 'name of version', version],
    retry: false,
    staleTime: NAMES_MS,
    queryFn: ({ signal }) => answer(client.getVersion({ api_id: api, version_id: version }, { signal })),
  })

/** The display name of an API; its id if it was deleted, or for a session that may not read APIs. */
export function ApiName({ id }: { id: string }) {
  const { data } = useQuery({ ...namedQuery(id), enabled: useAllowed('API_READ') })
  return data?.displayName ?? id
}
