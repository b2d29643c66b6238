import { useQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { useAllowed } from '../http/session.ts'

const NAMES_MS = 60_000

/**
 * The names of environments by their ids, in the order of the environments.
 * @param wanted whether they are shown; nothing is read otherwise
 */
export function useEnvironmentNames(wanted = true): ReadonlyMap<string, string> {
  const allowed = useAllowed('ENVIRONMENT_READ')
  const { data } = useQuery({
    queryKey: ['environments', 'names'],
    queryFn: ({ signal }) => answer(client.listEnvironments({ size: 100 }, { signal })),
    enabled: wanted && allowed,
    staleTime: NAMES_MS,
    select: ({ content }) => new Map(content.map(({ id, displayName }) => [id, displayName ?? id] as const)),
  })
  return data ?? NONE
}

const NONE: ReadonlyMap<string, string> = new Map()
