import { useQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { useAllowed } from '../http/session.ts'

const NAMES_MS = 60_000

/** The display name of an API; its id if it was deleted, or for a session that may not read APIs. */
export function ApiName({ id }: { id: string }) {
  const { data } = useQuery({
    queryKey: ['apis', 'name-of', id],
    enabled: useAllowed('API_READ'),
    retry: false,
    staleTime: NAMES_MS,
    queryFn: ({ signal }) => answer(client.getApi({ api_id: id }, { signal })),
  })
  return data?.displayName ?? id
}
