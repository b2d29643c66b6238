import '../more-styles.ts'
import { Group, Stack, Tabs, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useAllowed } from '../http/session.ts'
import { isProblem } from '../parts/field-errors.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import { Trail } from '../parts/trail.tsx'
import { WebhookStateBadge } from '../parts/webhook-state.tsx'
import { WebhookActions } from './actions.tsx'
import { DeliveryList } from './deliveries/delivery-list.tsx'
import { RecoveryPanel } from './deliveries/recovery-panel.tsx'
import { DeletedHistory, WebhookHistory } from './history.tsx'
import { Overview } from './overview.tsx'
import { readWebhookSearch } from './search.ts'
import { type TaggedWebhook, webhookQuery } from './webhook-queries.ts'

const route = getRouteApi('/inside/webhooks/$webhookId')

/** The page of a webhook: its overview, deliveries, recoveries and history. */
export function WebhookPage() {
  const { webhookId } = route.useParams()
  const webhook = useQuery(webhookQuery(webhookId))
  const mayChange = useAllowed('WEBHOOKS_WRITE')
  const missing = isProblem(webhook.error, 'webhook-not-found')
  // The query keeps what it has read before the webhook was deleted.
  const current = missing ? undefined : webhook.data
  return (
    <Stack>
      <Trail to="/webhooks" label="Webhooks" page={webhook.data?.body.displayName ?? 'Webhook'} />
      <Group justify="space-between">
        <Group>
          <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
            {webhook.data?.body.displayName ?? 'Webhook'}
          </Title>
          {current && <WebhookStateBadge webhook={current.body} />}
        </Group>
        {current && mayChange && <WebhookActions key={webhookId} current={current} />}
      </Group>
      {webhook.isPending && <Loading what="the webhook" />}
      {webhook.isError && (
        <ProblemPanel
          what="The webhook cannot be shown"
          error={webhook.error}
          onRetry={() => webhook.refetch()}
        />
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
      <Tabs.List mb="md">
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
