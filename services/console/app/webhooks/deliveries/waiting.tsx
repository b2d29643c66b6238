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
  const last = ahead.data?.at(-1)
  // Of a long queue only the next deliveries are read, and the one that blocks it is not among them.
  const first = last?.waitsFor === null ? last : undefined
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
        {ahead.data && ahead.data.length > 1 && (
          <Between deliveries={(first ? ahead.data.slice(0, -1) : ahead.data).toReversed()} all={!!first} />
        )}
      </Stack>
    </Alert>
  )
}

interface BetweenProps {
  deliveries: readonly Delivery[]
  /** Whether these are all deliveries between the blocking one and this one. */
  all: boolean
}

function Between({ deliveries, all }: BetweenProps) {
  const others = deliveries.length === 1 ? 'other delivery comes' : 'other deliveries come'
  return (
    <>
      <Text size="sm">
        {all
          ? `Then ${deliveries.length} ${others} first:`
          : `More than ${deliveries.length} deliveries come first. The last ${deliveries.length} of them:`}
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
