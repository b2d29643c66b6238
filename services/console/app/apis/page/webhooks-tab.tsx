import { Badge, Code, Group, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '../../http/schemas.ts'
import { useAllowed } from '../../http/session.ts'
import { webhooksQuery } from '../../parts/all-webhooks.ts'
import { AnchorLink, ButtonLink } from '../../parts/links.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { OPENS_ITS_LINK } from '../../parts/row-click.ts'
import { Empty, Loading } from '../../parts/states.tsx'
import { Time } from '../../parts/time.tsx'
import { rateText, WebhookStateBadge } from '../../parts/webhook-state.tsx'

type Webhook = Schemas['Webhook']

/** Types of the events that concern an API. */
const isApiEvent = (type: string) => type.startsWith('API_') || type.startsWith('PRODUCT_API_')

/** The active webhooks that ask for events of APIs, and how many webhooks were not searched. */
const askForApis = ({ webhooks, total }: { webhooks: readonly Webhook[]; total: number }) => ({
  found: webhooks.filter(({ active, eventTypes }) => active && eventTypes.some(isApiEvent)),
  unread: total - webhooks.length,
})

/** The webhooks that are told about changes of this API and of all others. */
export function WebhooksTab({ api }: { api: Schemas['Api'] }) {
  const allowed = useAllowed('WEBHOOKS_WRITE')
  const webhooks = useQuery({ ...webhooksQuery, select: askForApis })
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h4">
          Active webhooks for events of APIs
        </Title>
        {allowed && (
          <ButtonLink to="/webhooks/new" search={{ api: api.id }}>
            Create webhook
          </ButtonLink>
        )}
      </Group>
      <Text size="sm">A webhook is not of one API: each of these receives the events of all APIs.</Text>
      {webhooks.isPending && <Loading what="the webhooks" />}
      {webhooks.isError && (
        <ProblemPanel
          what="The webhooks cannot be listed"
          error={webhooks.error}
          onRetry={() => webhooks.refetch()}
        />
      )}
      {webhooks.data?.found.length === 0 && (
        <Empty title="No webhook asks for events of APIs">
          A webhook tells another system about changes of APIs as they happen.
        </Empty>
      )}
      {webhooks.data && webhooks.data.found.length > 0 && <WebhookTable webhooks={webhooks.data.found} />}
      {webhooks.data && webhooks.data.unread > 0 && (
        <Text size="sm">{webhooks.data.unread} further webhooks were not searched.</Text>
      )}
    </Stack>
  )
}

function WebhookTable({ webhooks }: { webhooks: readonly Webhook[] }) {
  return (
    <Table verticalSpacing="xs" highlightOnHover aria-label="Webhooks">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Webhook</Table.Th>
          <Table.Th visibleFrom="sm">Events of APIs</Table.Th>
          <Table.Th>Health</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {webhooks.map(webhook => (
          <Table.Tr key={webhook.id} {...OPENS_ITS_LINK}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <AnchorLink fw={500} to="/webhooks/$webhookId" params={{ webhookId: webhook.id }}>
                {webhook.displayName}
              </AnchorLink>
              <Text size="xs">
                <Code>{webhook.url}</Code>
              </Text>
              <Text size="xs" hiddenFrom="sm">
                {webhook.eventTypes.filter(isApiEvent).join(', ')}
              </Text>
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Group gap={6}>
                {webhook.eventTypes.filter(isApiEvent).map(type => (
                  <Badge key={type}>{type}</Badge>
                ))}
              </Group>
            </Table.Td>
            <Table.Td>
              <WebhookStateBadge webhook={webhook} />
              <Text size="xs">
                <Health health={webhook.health} />
              </Text>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function Health({ health }: Pick<Webhook, 'health'>) {
  if (!health || health.successRate === null) return null
  if (!health.failingSince) return `${rateText(health.successRate)} of attempts succeed`
  return (
    <>
      Since <Time at={health.failingSince} />
    </>
  )
}
