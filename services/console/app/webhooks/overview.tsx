import { Alert, Badge, DataList, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useAllowed } from '../http/session.ts'
import { Copied } from '../parts/copy.tsx'
import { ButtonLink } from '../parts/links.tsx'
import { OwnerName } from '../parts/owner-name.tsx'
import { Time } from '../parts/time.tsx'
import { waitingQuery } from './deliveries/delivery-queries.ts'
import { FORMATS } from './draft.ts'
import { HealthFigures } from './health.tsx'
import { LastFailure, PauseText } from './pause-text.tsx'
import { SecretState } from './secret-state.tsx'
import { Section } from './section.tsx'
import { TestDelivery } from './test-delivery.tsx'
import type { Webhook } from './webhook-queries.ts'

/** With the default of the setting. No answer of the service has the pauses that are set. */
const RETRIES =
  'As the setting WEBHOOK_RETRY_SCHEDULE of the service has them; then a delivery is given up. The REST interface documentation has its default.'

/** What a webhook does, and how well. */
export function Overview({ webhook }: { webhook: Webhook }) {
  const mayChange = useAllowed('WEBHOOKS_WRITE')
  return (
    <Stack>
      <Warnings webhook={webhook} />
      <HealthFigures webhook={webhook} />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Section title="Details">
          <Details webhook={webhook} />
        </Section>
        <Stack>
          <Section title="Signing secret">
            <SecretState webhook={webhook} />
          </Section>
          {mayChange && (
            <Section title="Test">
              <TestDelivery webhookId={webhook.id} />
            </Section>
          )}
        </Stack>
      </SimpleGrid>
    </Stack>
  )
}

function Details({ webhook }: { webhook: Webhook }) {
  const items: [string, ReactNode][] = [
    ['URL', <Copied key="url" value={webhook.url} what="URL" />],
    ['Name', webhook.name],
    [
      'Event types',
      <Group key="types" gap={4}>
        {webhook.eventTypes.map(type => (
          <Badge key={type} ff="monospace">
            {type}
          </Badge>
        ))}
      </Group>,
    ],
    ['Order', webhook.ordered ? 'The events of a resource one after another' : 'In any order'],
    ['Retries', RETRIES],
    ['Format', FORMATS[webhook.format].label],
    ['Owner', <OwnerName key="owner" id={webhook.owner} />],
    ['Created', <Time key="created" at={webhook.createdAt} />],
    ['Changed', <Time key="changed" at={webhook.updatedAt} />],
    ['Id', <Copied key="id" value={webhook.id} what="id" />],
  ]
  return (
    <DataList orientation="horizontal" labelWidth={100}>
      {items.map(([label, value]) => (
        <DataList.Item key={label}>
          <DataList.ItemLabel>{label}</DataList.ItemLabel>
          <DataList.ItemValue miw={0} style={{ overflowWrap: 'anywhere' }}>
            {value}
          </DataList.ItemValue>
        </DataList.Item>
      ))}
    </DataList>
  )
}

/** Why the webhook does not deliver, and what to do about it. */
function Warnings({ webhook: { id, active, disabledReason, health } }: { webhook: Webhook }) {
  const { data: waits } = useQuery(waitingQuery(id))
  const waiting = waits?.count
  if (!active)
    return (
      <Alert
        color="yellow"
        title={disabledReason ? 'The service has made this webhook inactive' : 'Inactive'}
      >
        <Stack gap="xs">
          {disabledReason && <Text size="sm">{reasonText(disabledReason)}</Text>}
          <Text size="sm">
            It receives no events. After it is activated, a recovery delivers the events that it has missed.
          </Text>
        </Stack>
      </Alert>
    )
  if (!health?.failingSince) return null
  return (
    <Alert color="red" title="The latest attempts have failed">
      <Stack gap="xs" align="flex-start">
        {health.pausedUntil ? (
          <PauseText
            webhook={id}
            waiting={waits}
            pause={{ until: health.pausedUntil, failures: health.consecutiveFailures }}
          />
        ) : (
          <>
            {/* A test is not tried again. */}
            {waiting !== 0 && <Text size="sm">Failed deliveries are tried again with growing pauses.</Text>}
            <LastFailure webhook={id} />
          </>
        )}
        <Text size="sm">
          {waiting === 0
            ? 'No delivery waits for another attempt. If the URL is wrong, correct it, then send a test.'
            : 'If the URL is wrong, correct it: the next attempt of each delivery uses the new one.'}
        </Text>
        <ButtonLink
          size="xs"
          variant="default"
          from="/webhooks/$webhookId"
          to="."
          search={{ tab: 'deliveries', sort: 'lastAttemptAt,desc' }}
        >
          Show the deliveries, the last failed one first
        </ButtonLink>
      </Stack>
    </Alert>
  )
}

const reasonText = (reason: string): string =>
  reason === 'owner-lacks-scope'
    ? 'Its owner may not read one of its event types any more, or cannot sign in. Give the user the role back, or transfer the webhook to another owner, then activate it.'
    : `Reason: ${reason}`
