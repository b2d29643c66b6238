import '../../more-styles.ts'
import { Alert, Button, Code, Group, Stack, Tabs, Title } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import type { Schemas } from '../../http/schemas.ts'
import { useAllowed } from '../../http/session.ts'
import { isProblem } from '../../parts/field-errors.ts'
import { ButtonLink } from '../../parts/links.tsx'
import { PhoneMenu } from '../../parts/phone-menu.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Loading } from '../../parts/states.tsx'
import { StatusBadge } from '../../parts/statuses.tsx'
import { Trail } from '../../parts/trail.tsx'
import classes from './api-page.module.css'
import { DeleteDialog } from './delete-dialog.tsx'
import { DeploymentsTab } from './deployments-tab.tsx'
import { DetailsTab } from './details-tab.tsx'
import { HistoryTab } from './history-tab.tsx'
import { ApiImage } from './image.tsx'
import { apiQuery, historyQuery } from './reads.ts'
import { readApiPageSearch, type Tab } from './search.ts'
import { VersionsTab } from './versions-tab.tsx'
import { WebhooksTab } from './webhooks-tab.tsx'

const DocumentationTab = lazy(async () => ({
  default: (await import('../documents/documentation-tab.tsx')).DocumentationTab,
}))
const route = getRouteApi('/inside/apis/$apiId')

/** The page of an API. */
export function ApiPage() {
  const { apiId } = route.useParams()
  const api = useQuery(apiQuery(apiId))
  // The query keeps what it read before an API was deleted.
  const missing = isProblem(api.error, 'api-not-found')
  const shown = missing ? undefined : api.data
  const lastName = useLastName(apiId, missing)
  return (
    <Stack maw={1200}>
      <Trail to="/apis" label="APIs" page={api.data?.body.displayName ?? lastName.name ?? 'API'} />
      {api.isPending && <Loading what="the API" />}
      {api.isError && !shown && (
        <Missing id={apiId} {...lastName} error={api.error} onRetry={() => api.refetch()} />
      )}
      {shown && (
        <>
          {api.isError && (
            <ProblemPanel what="The page is not up to date" error={api.error} onRetry={() => api.refetch()} />
          )}
          <Header key={`header ${apiId}`} api={shown.body} etag={shown.etag} />
          <ApiTabs key={`tabs ${apiId}`} api={shown.body} etag={shown.etag} />
        </>
      )}
    </Stack>
  )
}

function Header({ api, etag }: { api: Schemas['Api']; etag: string }) {
  const allowed = useAllowed('API_WRITE')
  const [deleting, { open, close }] = useDisclosure()
  const navigate = route.useNavigate()
  return (
    <div className={classes.header}>
      {api.hasImage && (
        <div className={classes.image}>
          <ApiImage id={api.id} size={56} alt="" />
        </div>
      )}
      <Title order={1} size="h2" className={classes.title}>
        {api.displayName}
      </Title>
      <Group gap="xs" className={classes.facts}>
        <Code>{api.name}</Code>
        <StatusBadge status={api.status} />
        <StatusBadge status={api.deploymentStatus} />
      </Group>
      {allowed && (
        <div className={classes.actions}>
          <Group gap="xs" wrap="nowrap" visibleFrom="sm">
            <ButtonLink to="/apis/$apiId/edit" params={{ apiId: api.id }}>
              Edit
            </ButtonLink>
            <Button variant="default" c="red" onClick={open}>
              Delete
            </Button>
          </Group>
          <PhoneMenu
            of={api.displayName}
            actions={[
              { text: 'Edit', act: () => navigate({ to: '/apis/$apiId/edit', params: { apiId: api.id } }) },
              { text: 'Delete', act: open, c: 'red' },
            ]}
          />
        </div>
      )}
      {deleting && <DeleteDialog api={api} etag={etag} onClose={close} />}
    </div>
  )
}

function ApiTabs({ api, etag }: { api: Schemas['Api']; etag: string }) {
  // The router also passes on what the route has left out.
  const { tab = 'details' } = readApiPageSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const seesWebhooks = useAllowed('WEBHOOKS_READ')
  const choose = (chosen: string | null) =>
    navigate({ search: chosen === 'details' ? {} : { tab: chosen as Tab }, replace: true })
  return (
    <Tabs value={tab === 'webhooks' && !seesWebhooks ? 'details' : tab} onChange={choose} keepMounted={false}>
      <Tabs.List aria-label="Parts of the API" className={classes.tabs}>
        <Tabs.Tab value="details">Details</Tabs.Tab>
        <Tabs.Tab value="documentation">Documentation</Tabs.Tab>
        <Tabs.Tab value="versions">Versions</Tabs.Tab>
        <Tabs.Tab value="deployments">Deployments</Tabs.Tab>
        {seesWebhooks && <Tabs.Tab value="webhooks">Webhooks</Tabs.Tab>}
        <Tabs.Tab value="history">History</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="details" pt="md">
        <DetailsTab api={api} />
      </Tabs.Panel>
      <Tabs.Panel value="documentation" pt="md">
        <Suspense fallback={<Loading what="the documents" />}>
          <DocumentationTab api={api.id} />
        </Suspense>
      </Tabs.Panel>
      <Tabs.Panel value="versions" pt="md">
        <VersionsTab api={api} />
      </Tabs.Panel>
      <Tabs.Panel value="deployments" pt="md">
        <DeploymentsTab api={api} />
      </Tabs.Panel>
      {seesWebhooks && (
        <Tabs.Panel value="webhooks" pt="md">
          <WebhooksTab api={api} />
        </Tabs.Panel>
      )}
      <Tabs.Panel value="history" pt="md">
        <HistoryTab id={api.id} now={{ api, etag }} />
      </Tabs.Panel>
    </Tabs>
  )
}

/** The name of a deleted API, of which the history is still there. */
function useLastName(id: string, isDeleted: boolean) {
  const history = useInfiniteQuery({ ...historyQuery(id), enabled: isDeleted })
  const entries = history.data?.pages.flatMap(({ content }) => content) ?? []
  return { name: isDeleted ? entries.flatMap(lastNameIn)[0] : undefined, hasHistory: !history.isError }
}

interface MissingProps extends ReturnType<typeof useLastName> {
  id: string
  error: unknown
  onRetry: () => void
}

/** An API that cannot be read. */
function Missing({ id, name, hasHistory, error, onRetry }: MissingProps) {
  const missing = isProblem(error, 'api-not-found')
  return (
    <>
      <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
        {missing ? (name ? `${name} was deleted` : 'There is no such API') : 'API'}
      </Title>
      {missing ? (
        <>
          <Alert color="gray" variant="default">
            {name ? 'Only its history is kept.' : 'No API ever had this id.'}
          </Alert>
          {hasHistory && <HistoryTab id={id} />}
        </>
      ) : (
        <ProblemPanel what="The API cannot be read" error={error} onRetry={onRetry} />
      )}
    </>
  )
}

/** The display name that an entry of the history has set or removed. */
const lastNameIn = ({ resourceType, changes }: Schemas['HistoryEntry']): string[] =>
  changes.flatMap(({ path, value, before }) =>
    resourceType === 'API' && path === '/displayName' ? [String(value ?? before)] : [],
  )
