import { Code, DataList, Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { useAllowed } from '../../http/session.ts'
import { ApiName } from '../../parts/api-name.tsx'
import { AnchorLink } from '../../parts/links.tsx'
import { Time } from '../../parts/time.tsx'
import { NextAttempt } from './countdown.tsx'
import type { Delivery, Pause } from './delivery-queries.ts'
import { eventTime, namedApi } from './payload.ts'
import { WebhookLink } from './webhook-link.tsx'

/** What a delivery is about: its webhook, event, API and trace. */
export function Facts({ delivery, pause }: { delivery: Delivery; pause: Pause | undefined }) {
  const { webhook, url, traceId, createdAt, lastAttemptAt, nextAttemptAt } = delivery
  const api = namedApi(delivery)
  return (
    <DataList orientation="horizontal">
      <Fact name="Webhook">
        <WebhookLink id={webhook} />
      </Fact>
      <Fact name="URL">{url}</Fact>
      {api && (
        <Fact name="API">
          <AnchorLink to="/apis/$apiId" params={{ apiId: api.id }} inherit>
            {api.name ?? <ApiName id={api.id} />}
          </AnchorLink>
        </Fact>
      )}
      <Fact name="Event">
        <EventLinks delivery={delivery} />
      </Fact>
      {traceId && (
        <Fact name="Trace id">
          <TraceLink delivery={delivery} traceId={traceId} />
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
          <NextAttempt delivery={delivery} pause={pause} />
        </Fact>
      )}
    </DataList>
  )
}

/** The feed of events has no tests. */
const useSeesEvent = ({ eventType }: Delivery) => useAllowed('AUDIT_LOG_READ') && eventType !== 'TEST'

/** Links to the event in the feed of events, as far as the session may read it, and to all its deliveries. */
function EventLinks({ delivery }: { delivery: Delivery }) {
  const { eventId } = delivery
  const linked = useSeesEvent(delivery)
  return (
    <Group gap="md">
      {linked ? (
        <AnchorLink
          to="/events"
          search={{ event: eventId, from: eventTime(delivery) }}
          inherit
          ff="monospace"
        >
          {eventId}
        </AnchorLink>
      ) : (
        <Code>{eventId}</Code>
      )}
      <AnchorLink to="/deliveries" search={{ eventId }} inherit>
        All its deliveries
      </AnchorLink>
    </Group>
  )
}

/** A link to the events that the same request has caused. */
function TraceLink({ delivery, traceId }: { delivery: Delivery; traceId: string }) {
  const linked = useSeesEvent(delivery)
  if (!linked) return <Code>{traceId}</Code>
  return (
    <AnchorLink to="/events" search={{ trace: traceId, from: eventTime(delivery) }} inherit ff="monospace">
      {traceId}
    </AnchorLink>
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
