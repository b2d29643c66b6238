import { Alert, Button, Code, Group, Loader, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'
import { CodeBlock } from '../parts/copy.tsx'
import { AnchorLink } from '../parts/links.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { faultOf } from './deliveries/faults.ts'
import { latencyText } from './health.tsx'

type Delivery = Schemas['Delivery']

const POLL_MS = 300
const isFinal = ({ status }: Delivery) => ['SUCCESS', 'GIVE_UP', 'CANCELLED'].includes(status)

/** Sends a test delivery and shows its result as soon as the endpoint has answered. */
export function TestDelivery({ webhookId }: { webhookId: string }) {
  const send = useMutation({
    mutationFn: () => answer(client.testWebhook({ webhook_id: webhookId })),
  })
  const sent = send.data
  const delivery = useQuery({
    queryKey: ['webhooks', 'test', webhookId, sent?.id],
    enabled: sent !== undefined,
    initialData: sent,
    staleTime: 0,
    refetchInterval: ({ state }) => (state.data && isFinal(state.data) ? false : POLL_MS),
    queryFn: async ({ signal }) => {
      const path = { webhook_id: webhookId, request_id: sent?.id ?? '' }
      const read = await answer(client.getDelivery(path, { signal }))
      // The health counts the attempt.
      if (isFinal(read)) queries.invalidateQueries({ queryKey: ['webhooks', 'one', webhookId] })
      return read
    },
  })
  const arriving = delivery.data !== undefined && !isFinal(delivery.data)
  return (
    <Stack gap="sm">
      <Group>
        <Button variant="default" onClick={() => send.mutate()} loading={send.isPending || arriving}>
          {sent ? 'Send another test' : 'Send a test delivery'}
        </Button>
        {arriving && (
          <Group gap="xs">
            <Loader size="xs" aria-hidden />
            <Text size="sm">Waiting for the answer of the endpoint</Text>
          </Group>
        )}
      </Group>
      {send.isError && <ProblemPanel what="The test was not sent" error={send.error} />}
      {delivery.isError && (
        <ProblemPanel
          what="The result of the test cannot be read"
          error={delivery.error}
          onRetry={() => delivery.refetch()}
        />
      )}
      <div aria-live="polite">
        {delivery.data && isFinal(delivery.data) && <TestResult delivery={delivery.data} />}
      </div>
    </Stack>
  )
}

function TestResult({ delivery }: { delivery: Delivery }) {
  const attempt = delivery.attemptLog.at(-1)
  const arrived = delivery.status === 'SUCCESS'
  const fault = attempt && faultOf(attempt)
  return (
    <Alert
      color={arrived ? 'teal' : 'red'}
      title={arrived ? 'The test has arrived' : 'The test has not arrived'}
    >
      <Stack gap="xs">
        <Text size="sm">
          {arrived
            ? `The endpoint answered ${attempt?.responseStatus} after ${latencyText(attempt?.durationMs)}.`
            : [fault?.said, fault?.whose, fault?.advice].filter(Boolean).join(' ')}
        </Text>
        {delivery.failureMessage && (
          <Text size="sm">
            <Code>{delivery.failureMessage}</Code>
          </Text>
        )}
        {attempt?.responseBody && (
          <CodeBlock label="Body of the answer" text={attempt.responseBody} maxHeight={160} />
        )}
        <AnchorLink
          size="sm"
          to="/webhooks/$webhookId/deliveries/$deliveryId"
          params={{ webhookId: delivery.webhook, deliveryId: delivery.id }}
        >
          Show the delivery
        </AnchorLink>
      </Stack>
    </Alert>
  )
}
