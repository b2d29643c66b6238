import { AnchorLink } from '../../parts/links.tsx'
import '../../more-styles.ts'
import { Alert, Breadcrumbs, Code, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useLocation } from '@tanstack/react-router'
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
  const list = useLocation({ select: ({ state }) => state.deliveries })
  return (
    <Stack>
      <Breadcrumbs component="nav" aria-label="Breadcrumbs">
        {list ? (
          <AnchorLink to="/deliveries" search={list}>
            Deliveries
          </AnchorLink>
        ) : (
          <AnchorLink to="/webhooks">Webhooks</AnchorLink>
        )}
        {!list && <WebhookLink id={webhookId} />}
        <Text>Delivery</Text>
      </Breadcrumbs>
      <Group>
        <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
          {read.data ? <TypeName name={read.data.eventType} /> : 'Delivery'}
        </Title>
        {read.data && <StatusBadge delivery={read.data} />}
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
    <Stack gap="lg" maw={1400}>
      {fault && delivery.status !== 'SUCCESS' && <Failure delivery={delivery} fault={fault} />}
      {pause && (
        <Alert color="orange" title="Waits: the attempts to the webhook are paused">
          <PauseText webhook={delivery.webhook} pause={pause} known={fault !== undefined} />
        </Alert>
      )}
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
      <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="xl" verticalSpacing="lg">
        <Attempts delivery={delivery} pause={pause} />
        <Stack gap="lg" miw={0}>
          <Facts delivery={delivery} pause={pause} />
          <Payload payload={delivery.payload} />
        </Stack>
      </SimpleGrid>
    </Stack>
  )
}

const Payload = ({ payload }: Pick<Delivery, 'payload'>) => (
  <section aria-labelledby="payload">
    <Title order={2} size="h4" id="payload" mb="sm">
      Payload
    </Title>
    {payload === null ? (
      <Text size="sm">Your role does not allow to read the payload of this event type.</Text>
    ) : (
      <CodeBlock label="Payload" text={JSON.stringify(payload, undefined, 2)} maxHeight={400} />
    )}
  </section>
)

interface FailureProps {
  delivery: Delivery
  fault: NonNullable<ReturnType<typeof lastFault>>
}

/** The beginning of an answer that the page says first. */
const EXCERPT = 200

/** Why the latest attempt failed, with what the receiver answered, and what to do about it. */
function Failure({ delivery: { attemptLog }, fault: { said, whose, advice } }: FailureProps) {
  const body = attemptLog.findLast(({ error }) => error !== null)?.responseBody
  return (
    <Alert color="red" title={said}>
      {whose} {advice}
      {body && (
        <Text size="sm" mt={4} style={{ overflowWrap: 'anywhere' }}>
          It answered: <Code>{body.length > EXCERPT ? `${body.slice(0, EXCERPT)}…` : body}</Code>
        </Text>
      )}
    </Alert>
  )
}
