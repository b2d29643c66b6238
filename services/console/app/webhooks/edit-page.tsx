import { AnchorLink } from '../parts/links.tsx'
import '../more-styles.ts'
import { Breadcrumbs, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import { EditForm } from './edit-form.tsx'
import { webhookQuery } from './webhook-queries.ts'

const route = getRouteApi('/inside/webhooks/$webhookId/edit')

/** The page that changes a webhook. */
export function EditWebhookPage() {
  const { webhookId } = route.useParams()
  const navigate = route.useNavigate()
  // Read once: a later answer must not become the base of what the person has typed.
  const opened = useQuery({
    ...webhookQuery(webhookId),
    queryKey: ['webhooks', 'edited', webhookId],
    refetchInterval: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const name = opened.data?.body.displayName ?? 'Webhook'
  const leave = () => navigate({ to: '/webhooks/$webhookId', params: { webhookId }, ignoreBlocker: true })
  return (
    <Stack>
      <Breadcrumbs component="nav" aria-label="Breadcrumbs">
        <AnchorLink to="/webhooks">Webhooks</AnchorLink>
        <AnchorLink to="/webhooks/$webhookId" params={{ webhookId }}>
          {name}
        </AnchorLink>
        <Text>Edit</Text>
      </Breadcrumbs>
      <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
        Edit {name}
      </Title>
      {opened.isPending && <Loading what="the webhook" />}
      {opened.isError && (
        <ProblemPanel
          what="The webhook cannot be read"
          error={opened.error}
          onRetry={() => opened.refetch()}
        />
      )}
      {opened.data && <EditForm key={webhookId} current={opened.data} onSaved={leave} />}
    </Stack>
  )
}
