import { Anchor, Code, DataList } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { answer, client } from '../../http/client.ts'
import { useAllowed } from '../../http/session.ts'
import { Time } from '../../parts/time.tsx'
import { Countdown } from './countdown.tsx'
import type { Delivery } from './delivery-queries.ts'
import { namedApi } from './named-api.ts'
import { WebhookLink } from './webhook-link.tsx'

/** What a delivery is about: its webhook, event, API and trace. */
export function Facts({ delivery }: { delivery: Delivery }) {
  const { webhook, url, eventId, traceId, createdAt, lastAttemptAt, nextAttemptAt } = delivery
  const api = namedApi(delivery)
  return (
    <DataList orientation="horizontal">
      <Fact name="Webhook">
        <WebhookLink id={webhook} />
      </Fact>
      <Fact name="URL">{url}</Fact>
      {api && (
        <Fact name="API">
          <ApiLink {...api} />
        </Fact>
      )}
      <Fact name="Event">
        <Anchor component={Link} to="/deliveries" search={{ eventId }} inherit ff="monospace">
          {eventId}
        </Anchor>
      </Fact>
      {traceId && (
        <Fact name="Trace id">
          <Code>{traceId}</Code>
        </Fact>
      )}
      <Fact name="Created">
        <Time at={createdAt} />
      </Fact>
      {lastAttemptAt && (
        <Fact name="Last attempt">
          <Time at={lastAttemptAt} />
        </Fact>
      )}
      {nextAttemptAt && (
        <Fact name="Next attempt">
          <Countdown to={nextAttemptAt} />
        </Fact>
      )}
    </DataList>
  )
}

/** A link to an API with its name, which the event or the catalogue has. */
function ApiLink({ id, name }: { id: string; name?: string }) {
  const mayRead = useAllowed('API_READ')
  const api = useQuery({
    queryKey: ['apis', 'name-of', id],
    enabled: mayRead && name === undefined,
    retry: false,
    queryFn: ({ signal }) =>
      answer(client.GET('/apis/{api_id}', { params: { path: { api_id: id } }, signal })),
  })
  return (
    <Anchor component={Link} to="/apis/$apiId" params={{ apiId: id }} inherit>
      {name ?? api.data?.displayName ?? id}
    </Anchor>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <DataList.Item>
      <DataList.ItemLabel>{name}</DataList.ItemLabel>
      <DataList.ItemValue style={{ overflowWrap: 'anywhere' }}>{children}</DataList.ItemValue>
    </DataList.Item>
  )
}
