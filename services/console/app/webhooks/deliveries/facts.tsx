import { Anchor, Code, DataList } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
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
      {api && <Fact name="API">{api.name ?? api.id}</Fact>}
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

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <DataList.Item>
      <DataList.ItemLabel c="var(--mantine-color-text)" fw={500}>
        {name}
      </DataList.ItemLabel>
      <DataList.ItemValue style={{ overflowWrap: 'anywhere' }}>{children}</DataList.ItemValue>
    </DataList.Item>
  )
}
