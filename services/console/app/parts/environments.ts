import { useQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import type { Sort } from '../http/schemas.ts'
import { useAllowed } from '../http/session.ts'

const NAMES_MS = 60_000

/** By position, and in the order of their creation where that is the same or absent. */
export const IN_ORDER: Sort<'listEnvironments'>[] = ['position,asc', 'createdAt,asc']

/**
 * The names of environments by their ids, in the order of the environments.
 * @param wanted whether they are shown; nothing is read otherwise
 */
export function useEnvironmentNames(wanted = true): ReadonlyMap<string, string> {
  const allowed = useAllowed('ENVIRONMENT_READ')
  const { data } = useQuery({
    queryKey: ['environments', 'names'],
    queryFn: ({ signal }) => answer(client.listEnvironments({ size: 100, sort: IN_ORDER }, { signal })),
    enabled: wanted && allowed,
    staleTime: NAMES_MS,
    select: ({ content }) => new Map(content.map(({ id, displayName }) => [id, displayName ?? id] as const)),
  })
  return data ?? NONE
}

const NONE: ReadonlyMap<string, string> = new Map()
