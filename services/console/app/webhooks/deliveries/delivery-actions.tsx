import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answer, client } from '../../http/client.ts'
import { useAllowed } from '../../http/session.ts'
import { AnchorLink } from '../../parts/links.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { type Delivery, isPending, mayBeRetried } from './delivery-queries.ts'
import { outcomeOf } from './outcomes.tsx'

const RETRIED = {
  open: 'The retry is under way.',
  delivered: 'The retry has succeeded.',
  failed: 'The retry has failed. The reason is above, and the attempt below.',
}

/** Retry and cancel, as far as the status and the session allow them. */
export function DeliveryActions({ delivery }: { delivery: Delivery }) {
  const mayChange = useAllowed('WEBHOOKS_WRITE')
  const queries = useQueryClient()
  const onSuccess = (changed: Delivery) => {
    queries.setQueryData(['deliveries', 'one', delivery.id], changed)
    return queries.invalidateQueries({ queryKey: ['deliveries', 'list'] })
  }
  // The delivery is in another status than the page shows.
  const onError = () => queries.invalidateQueries({ queryKey: ['deliveries', 'one', delivery.id] })
  const retry = useMutation({
    mutationFn: () => answer(client.retryDelivery({ request_id: delivery.id })),
    onSuccess,
    onError,
  })
  const cancel = useMutation({
    mutationFn: () => answer(client.cancelDelivery({ request_id: delivery.id })),
    onSuccess,
    onError,
  })
  if (!mayChange) return null
  const retriable = mayBeRetried(delivery)
  const pending = isPending(delivery)
  return (
    <Stack gap="sm">
      <Group>
        {retriable && (
          <Button loading={retry.isPending} onClick={() => retry.mutate()}>
            Retry now
          </Button>
        )}
        {pending && (
          <Button variant="default" loading={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel
          </Button>
        )}
      </Group>
      {delivery.status === 'SUCCESS' && delivery.eventType !== 'TEST' && (
        <Text size="sm">
          A delivered event is not sent again. Events that did not arrive are sent by a{' '}
          <AnchorLink
            to="/webhooks/$webhookId"
            params={{ webhookId: delivery.webhook }}
            search={{ tab: 'recoveries' }}
            inherit
            underline="always"
          >
            recovery
          </AnchorLink>
          .
        </Text>
      )}
      <Text size="sm" role="status">
        {retry.data && RETRIED[outcomeOf(retry.data, delivery)]}
      </Text>
      {retry.isError && <ProblemPanel what="The delivery is not retried" error={retry.error} />}
      {cancel.isError && <ProblemPanel what="The delivery is not cancelled" error={cancel.error} />}
    </Stack>
  )
}
