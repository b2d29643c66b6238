import { Alert, Group, List, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { AnchorLink } from '../../parts/links.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Countdown } from './countdown.tsx'
import { aheadQuery, type Delivery } from './delivery-queries.ts'
import { StatusBadge } from './status-badge.tsx'
import { TypeName } from './type-name.tsx'

/** For a delivery of an ordered webhook: the earlier deliveries that it waits for. */
export function Waiting({ delivery }: { delivery: Delivery }) {
  const ahead = useQuery(aheadQuery(delivery))
  if (delivery.waitsFor === null) return null
  if (ahead.isError)
    return (
      <ProblemPanel
        what="The earlier deliveries cannot be shown"
        error={ahead.error}
        onRetry={() => ahead.refetch()}
      />
    )
  const first = ahead.data?.at(-1)
  return (
    <Alert color="blue" variant="outline" title="Waits for an earlier delivery">
      <Stack gap="xs">
        <Text size="sm">
          The webhook is ordered: events of the same resource are delivered one after another. This delivery
          begins when the earlier ones are delivered, given up or cancelled.
        </Text>
        {first && (
          <>
            <Text size="sm" fw={500}>
              Blocked by
            </Text>
            <Blocker delivery={first} />
          </>
        )}
        {ahead.data && ahead.data.length > 1 && <Between deliveries={ahead.data.slice(0, -1).toReversed()} />}
      </Stack>
    </Alert>
  )
}

function Between({ deliveries }: { deliveries: readonly Delivery[] }) {
  return (
    <>
      <Text size="sm">
        Then {deliveries.length} {deliveries.length === 1 ? 'other delivery comes' : 'other deliveries come'}{' '}
        first:
      </Text>
      <List size="sm">
        {deliveries.map(delivery => (
          <List.Item key={delivery.id}>
            <DeliveryLink delivery={delivery} />
          </List.Item>
        ))}
      </List>
    </>
  )
}

function Blocker({ delivery }: { delivery: Delivery }) {
  const { attempts, nextAttemptAt } = delivery
  return (
    <Group gap="sm">
      <DeliveryLink delivery={delivery} />
      <StatusBadge delivery={delivery} />
      <Text size="sm">
        {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
        {nextAttemptAt && (
          <>
            , the next one <Countdown to={nextAttemptAt} />
          </>
        )}
      </Text>
    </Group>
  )
}

function DeliveryLink({ delivery: { id, webhook, eventId, eventType } }: { delivery: Delivery }) {
  return (
    <AnchorLink
      to="/webhooks/$webhookId/deliveries/$deliveryId"
      params={{ webhookId: webhook, deliveryId: id }}
      search={{ eventId }}
      size="sm"
    >
      <TypeName name={eventType} /> {id.slice(0, 8)}
    </AnchorLink>
  )
}
