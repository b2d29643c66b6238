import '../more-styles.ts'
import { Group, Stack, Tabs, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useAllowed } from '../http/session.ts'
import { deletedWebhookQuery } from '../parts/all-webhooks.ts'
import { isProblem } from '../parts/field-errors.ts'
import { AnchorLink } from '../parts/links.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import { Loading } from '../parts/states.tsx'
import { Trail } from '../parts/trail.tsx'
import { WebhookStateBadge } from '../parts/webhook-state.tsx'
import { WebhookActions } from './actions.tsx'
import { DeliveryList } from './deliveries/delivery-list.tsx'
import { RecoveryPanel } from './deliveries/recovery-panel.tsx'
import { DeletedHistory, WebhookHistory } from './history.tsx'
import { Overview } from './overview.tsx'
import { readWebhookSearch } from './search.ts'
import classes from './webhook-page.module.css'
import { type TaggedWebhook, webhookQuery } from './webhook-queries.ts'

const route = getRouteApi('/inside/webhooks/$webhookId')

/** The page of a webhook: its overview, deliveries, recoveries and history. */
export function WebhookPage() {
  const { webhookId } = route.useParams()
  const webhook = useQuery(webhookQuery(webhookId))
  const mayChange = useAllowed('WEBHOOKS_WRITE')
  const missing = isProblem(webhook.error, 'webhook-not-found')
  const { data: deleted, isLoading: looking } = useQuery({
    ...deletedWebhookQuery(webhookId),
    enabled: missing,
  })
  // The query keeps what it has read before the webhook was deleted.
  const current = missing ? undefined : webhook.data
  const name = webhook.data?.body.displayName ?? deleted?.displayName ?? 'Webhook'
  return (
    <Stack>
      <Trail to="/webhooks" label="Webhooks" page={name} />
      <Group justify="space-between" className={classes.header}>
        <Group gap="xs" miw={0} className={classes.title}>
          <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Title>
          {current && <WebhookStateBadge webhook={current.body} />}
          {deleted && <StateBadge color="gray">Deleted</StateBadge>}
        </Group>
        {current && mayChange && <WebhookActions key={webhookId} current={current} />}
      </Group>
      {webhook.isPending && <Loading what="the webhook" />}
      {/* Whoever saw the webhook is told that it is gone. */}
      {webhook.isError && !looking && (!deleted || webhook.data) && (
        <ProblemPanel
          what="The webhook cannot be shown"
          error={webhook.error}
          onRetry={() => webhook.refetch()}
        />
      )}
      {deleted && (
        <Text size="sm">
          This webhook is deleted. Its{' '}
          <AnchorLink to="/deliveries" search={{ webhook: webhookId }} inherit underline="always">
            deliveries
          </AnchorLink>{' '}
          are kept for a time, and its history stays.
        </Text>
      )}
      {missing && <DeletedHistory webhookId={webhookId} />}
      {current && <WebhookTabs key={webhookId} current={current} />}
    </Stack>
  )
}

function WebhookTabs({ current }: { current: TaggedWebhook }) {
  const webhookId = current.body.id
  // The router also passes on what the route has left out.
  const { tab = 'overview' } = readWebhookSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  return (
    <Tabs
      value={tab}
      onChange={value =>
        navigate({ search: { tab: value === 'overview' ? undefined : (value as typeof tab) }, replace: true })
      }
      keepMounted={false}
    >
      <Tabs.List mb="md" className={classes.tabs}>
        <Tabs.Tab value="overview">Overview</Tabs.Tab>
        <Tabs.Tab value="deliveries">Deliveries</Tabs.Tab>
        <Tabs.Tab value="recoveries">Recoveries</Tabs.Tab>
        <Tabs.Tab value="history">History</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="overview">
        <Overview webhook={current.body} />
      </Tabs.Panel>
      <Tabs.Panel value="deliveries">
        <DeliveryList webhookId={webhookId} />
      </Tabs.Panel>
      <Tabs.Panel value="recoveries">
        <RecoveryPanel webhookId={webhookId} />
      </Tabs.Panel>
      <Tabs.Panel value="history">
        <WebhookHistory webhookId={webhookId} />
      </Tabs.Panel>
    </Tabs>
  )
}
