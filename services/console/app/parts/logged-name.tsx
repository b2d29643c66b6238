import { useQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import type { Query, Sort } from '../http/schemas.ts'

/** Entries follow their events within moments. */
const RETRIES = 3
const RETRY_MS = 1_000
/** The types of what belongs to an API follow `API`, and those of what belongs to a version `API_VERSION`. */
const OWN_FIRST: Sort<'listAuditLog'>[] = ['resourceType,asc', 'timestamp,desc']

interface LoggedNameProps {
  id: string
  /** The member that is the name. */
  as?: 'displayName' | 'username'
}

/** The name of a resource, also of a deleted one, as the audit log has it last; the id if it has none. */
export function LoggedName({ id, as = 'displayName' }: LoggedNameProps) {
  const { data: last } = useQuery({
    queryKey: ['name-in-audit-log', id],
    queryFn: async ({ signal }) => {
      const query: Query<'listAuditLog'> = { resource: id, sort: OWN_FIRST, size: 1 }
      const { content } = await answer(client.listAuditLog(query, { signal }))
      if (!content[0]) throw new Error(`the audit log has no entry of ${id}`)
      return content[0]
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: RETRIES,
    retryDelay: RETRY_MS,
  })
  const state = last?.details.after ?? last?.details.before
  return String(state?.[as] ?? state?.displayName ?? id)
}
