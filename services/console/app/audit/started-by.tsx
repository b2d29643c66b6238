import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { AnchorLink } from '../parts/links.tsx'
import { Time } from '../parts/time.tsx'
import { type Entry, userName } from './entries.ts'

const STARTS = ['API_DEPLOYMENT_STARTED', 'API_UNDEPLOYMENT_STARTED']
/** For each end of a deployment the entry of its start. Both may fail. */
const STARTS_OF: Readonly<Record<string, readonly string[]>> = {
  API_DEPLOYED: ['API_DEPLOYMENT_STARTED'],
  API_UNDEPLOYED: ['API_UNDEPLOYMENT_STARTED'],
  API_DEPLOYMENT_FAILED: STARTS,
}
/** Entries of the API before the end among which its start is looked for. */
const LOOKED_AT = 50

/** Who started the deployment or undeployment that ended with an entry: the entry itself is by the deployment agent. */
export function StartedBy({ entry }: { entry: Entry }) {
  const { action, resourceId, environment, timestamp, number } = entry
  const starts = STARTS_OF[action]
  const before = useQuery({
    queryKey: ['audit', 'start of', entry.id],
    queryFn: ({ signal }) => {
      const to = new Date(Date.parse(timestamp) + 1).toISOString()
      return answer(client.listAuditLog({ resource: resourceId, to, size: LOOKED_AT }, { signal }))
    },
    enabled: starts !== undefined && environment !== null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const start = before.data?.content.find(
    other => starts?.includes(other.action) && other.environment === environment && other.number < number,
  )
  if (!start) return null
  return (
    <Text size="sm">
      Started by {userName(start)} <Time at={start.timestamp} /> ·{' '}
      <AnchorLink
        to="/audit"
        search={{ resource: resourceId, entry: start.id, at: start.timestamp }}
        inherit
        underline="always"
      >
        The entry of the start
      </AnchorLink>
    </Text>
  )
}
