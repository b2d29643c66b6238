import { AnchorLink } from '../../parts/links.tsx'
import '../../more-styles.ts'
import { Alert, Breadcrumbs, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { CodeBlock } from '../../parts/copy.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Loading } from '../../parts/states.tsx'
import { PauseText } from '../pause-text.tsx'
import { Attempts } from './attempts.tsx'
import { DeliveryActions } from './delivery-actions.tsx'
import {
  type Delivery,
  deliveryQuery,
  isPending,
  type Pause,
  usePauses,
  webhookOfQuery,
} from './delivery-queries.ts'
import { Facts } from './facts.tsx'
import { lastFault } from './faults.ts'
import { readOneDeliverySearch } from './search.ts'
import { StatusBadge } from './status-badge.tsx'
import { TypeName } from './type-name.tsx'
import { Waiting } from './waiting.tsx'
import { WebhookLink } from './webhook-link.tsx'

const route = getRouteApi('/inside/webhooks/$webhookId/deliveries/$deliveryId')

/** A delivery: its event, its attempts, and what can be done about it. */
export function DeliveryPage() {
  const { webhookId, deliveryId } = route.useParams()
  // The router also passes on what the route has left out.
  const { eventId } = readOneDeliverySearch({ ...route.useSearch() })
  const read = useQuery(deliveryQuery(webhookId, deliveryId, eventId))
  const pause = usePauses(read.data ? [read.data] : []).get(deliveryId)
  return (
    <Stack>
      <Breadcrumbs component="nav" aria-label="Breadcrumbs">
        <AnchorLink to="/webhooks">Webhooks</AnchorLink>
        <WebhookLink id={webhookId} />
        <Text>Delivery</Text>
      </Breadcrumbs>
      <Group>
        <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
          {read.data ? <TypeName name={read.data.eventType} /> : 'Delivery'}
        </Title>
        {read.data && <StatusBadge delivery={read.data} pause={pause} />}
      </Group>
      {read.isPending && <Loading what="the delivery" />}
      {read.isError && (
        <ProblemPanel what="The delivery cannot be shown" error={read.error} onRetry={() => read.refetch()} />
      )}
      {read.data && <Content key={deliveryId} delivery={read.data} pause={pause} />}
    </Stack>
  )
}

function Content({ delivery, pause }: { delivery: Delivery; pause: Pause | undefined }) {
  const webhook = useQuery(webhookOfQuery(delivery.webhook))
  const last = delivery.attemptLog.at(-1)
  const current = webhook.data?.url
  const fault = lastFault(delivery)
  return (
    <Stack gap="lg" maw={960}>
      {pause && <Paused webhook={delivery.webhook} pause={pause} />}
      {fault && delivery.status !== 'SUCCESS' && <Failure fault={fault} />}
      {webhook.data !== null && <DeliveryActions delivery={delivery} />}
      {current !== undefined && last && last.url !== current && delivery.status !== 'SUCCESS' && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          The webhook has another URL since the last attempt. The next one goes to {current}
        </Text>
      )}
      {webhook.data?.active === false && delivery.eventType !== 'TEST' && isPending(delivery) && (
        <Text size="sm">The webhook is inactive. The delivery waits until it is active again.</Text>
      )}
      <Waiting delivery={delivery} />
      <Facts delivery={delivery} pause={pause} />
      <section aria-labelledby="payload">
        <Title order={2} size="h4" id="payload" mb="sm">
          Payload
        </Title>
        {delivery.payload === null ? (
          <Text size="sm">Your role does not allow to read the payload of this event type.</Text>
        ) : (
          <CodeBlock label="Payload" text={JSON.stringify(delivery.payload, undefined, 2)} maxHeight={400} />
        )}
      </section>
      <Attempts delivery={delivery} pause={pause} />
    </Stack>
  )
}

const Paused = ({ webhook, pause }: { webhook: string; pause: Pause }) => (
  <Alert color="orange" title="Waits: the attempts to the webhook are paused">
    <PauseText webhook={webhook} pause={pause} />
  </Alert>
)

/** Why the latest attempt failed, and what to do about it. */
const Failure = ({
  fault: { said, whose, advice },
}: {
  fault: NonNullable<ReturnType<typeof lastFault>>
}) => (
  <Alert color="red" title={said}>
    {whose} {advice}
  </Alert>
)
