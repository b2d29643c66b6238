import { Badge, Button, DataList, Grid, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { Schemas } from '../../http/schemas.ts'
import { useAllowed } from '../../http/session.ts'
import { fieldName, remarkable } from '../../parts/changes.tsx'
import { Copied } from '../../parts/copy.tsx'
import { useEnvironmentNames } from '../../parts/environments.ts'
import { Figure } from '../../parts/figure.tsx'
import { By } from '../../parts/history-list.tsx'
import { AnchorLink, ButtonLink, Outside } from '../../parts/links.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { KINDS, ScoreBadge } from '../../parts/score-badge.tsx'
import { statusText } from '../../parts/statuses.tsx'
import { Time } from '../../parts/time.tsx'
import {
  attachedDocumentsQuery,
  type DocumentRecord,
  documentsQuery,
  newestVersionsQuery,
  primaryOf,
  type Version,
} from '../documents/reads.ts'
import { LABELS } from '../form/draft.ts'
import { starterOf } from './deployments.ts'
import { ImagePanel } from './image-panel.tsx'
import { titleOf, versionNamesIn } from './operations.ts'
import { useHistory } from './use-history.ts'
import { VersionDialog } from './version-dialog.tsx'

/** The page of this API, for links to its tabs. */
const PAGE = { from: '/apis/$apiId', to: '.' } as const

/** What an API is, its documentation, where it runs and what changed last; then its other fields. */
export function DetailsTab({ api }: { api: Schemas['Api'] }) {
  const documentation = useDocumentation(api.id)
  return (
    <Stack>
      <NextStep api={api.id} {...documentation} />
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
        <LatestVersion {...documentation} />
        <NewestDocument {...documentation} />
        <RunsIn api={api} />
        <ChangedLast api={api} />
      </SimpleGrid>
      <Grid>
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Paper withBorder p="md">
            <Title order={2} size="h4" mb="sm">
              Description
            </Title>
            {api.description ? <Markdown text={api.description} /> : <em>No description</em>}
            {api.tags.length > 0 && <Tags tags={api.tags} />}
          </Paper>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <Stack>
            <Fields api={api} />
            <ImagePanel api={api} />
          </Stack>
        </Grid.Col>
      </Grid>
    </Stack>
  )
}

interface Documentation {
  /** Undefined while the versions are read. */
  count: number | undefined
  latest: Version | undefined
  /** The newest version with documents; `none` when there is none. */
  documented: Version | 'none' | undefined
  /** Its primary document. */
  document: DocumentRecord | undefined
}

function useDocumentation(api: string): Documentation {
  const versions = useQuery(newestVersionsQuery(api)).data
  const attached = useQuery(attachedDocumentsQuery(api)).data
  const documented =
    versions && attached && versions.content.find(({ id }) => attached.some(({ version }) => version === id))
  const documents = useQuery({
    ...documentsQuery({ api_id: api, version_id: documented?.id ?? '' }),
    enabled: documented !== undefined,
  }).data
  return {
    count: versions?.totalElements,
    latest: versions?.content[0],
    documented: documented ?? (versions && attached && 'none'),
    document: primaryOf(documents?.content ?? []),
  }
}

/** What a new API lacks. */
function NextStep({ api, count, documented, latest }: Documentation & { api: string }) {
  const allowed = useAllowed('API_WRITE')
  const [adds, setAdds] = useState(false)
  if (!allowed || documented !== 'none') return null
  return (
    <Paper withBorder p="sm" component="section" aria-label="Next step">
      <Group justify="space-between">
        <Text size="sm">
          {count === 0
            ? 'Next: add a version, e.g. 1.0.0. Documents belong to a version.'
            : 'Next: add a document, e.g. OpenAPI. It makes the API readable, searchable by its operations, and checked by rules.'}
        </Text>
        {latest ? (
          <ButtonLink {...PAGE} search={{ tab: 'documentation', version: latest.id }}>
            Add a document
          </ButtonLink>
        ) : (
          <Button onClick={() => setAdds(true)}>Add a version</Button>
        )}
      </Group>
      {adds && <VersionDialog api={api} onClose={() => setAdds(false)} />}
    </Paper>
  )
}

function LatestVersion({ count, latest }: Documentation) {
  return (
    <Figure
      name="Latest version"
      value={
        latest ? (
          <AnchorLink
            {...PAGE}
            search={{ tab: 'documentation', version: latest.id }}
            inherit
            truncate
            display="block"
            title={latest.name}
          >
            {latest.name}
          </AnchorLink>
        ) : (
          count === 0 && 'None'
        )
      }
    >
      {latest && `${statusText(latest.status)} · `}
      <AnchorLink {...PAGE} search={{ tab: 'versions' }} inherit underline="always">
        {count ? `${count.toLocaleString('en')} ${count === 1 ? 'version' : 'versions'}` : 'Versions'}
      </AnchorLink>
    </Figure>
  )
}

function NewestDocument({ documented, document, latest }: Documentation) {
  if (!documented || documented === 'none' || !document)
    return (
      <Figure name="Documentation" value={documented === 'none' && 'None'}>
        {documented === 'none' && 'No version has a document.'}
      </Figure>
    )
  const search = { tab: 'documentation', version: documented.id, document: document.name } as const
  const { operations } = document.counts
  return (
    <Figure
      name="Documentation"
      value={
        <AnchorLink {...PAGE} search={search} inherit truncate display="block" title={document.name}>
          {document.name}
        </AnchorLink>
      }
    >
      {KINDS[document.kind]}
      {operations > 0 &&
        `, ${operations.toLocaleString('en')} ${operations === 1 ? 'operation' : 'operations'}`}
      {documented.id !== latest?.id && `, of version ${documented.name}`}
      {document.score !== null && (
        <AnchorLink
          {...PAGE}
          search={{ ...search, ...(document.score < 100 && { view: 'findings' }) }}
          display="block"
          mt={4}
          title="Show the findings"
        >
          <ScoreBadge score={document.score} />
        </AnchorLink>
      )}
    </Figure>
  )
}

function RunsIn({ api: { deployedOn = [], deploymentStatus } }: { api: Schemas['Api'] }) {
  const names = deployedOn.map(
    ({ environment, environmentName }) => environmentName ?? environment.slice(0, 8),
  )
  return (
    <Figure name="Runs in" value={names.join(', ') || 'No environment'}>
      {statusText(deploymentStatus)} ·{' '}
      <AnchorLink {...PAGE} search={{ tab: 'deployments' }} inherit underline="always">
        Deployments
      </AnchorLink>
    </Figure>
  )
}

/** The newest change, also one of a version or document, which does not change the record of the API. */
function ChangedLast({ api }: { api: Schemas['Api'] }) {
  const history = useHistory(api)
  const [last] = history
  const environments = useEnvironmentNames(typeof last?.environment === 'string')
  const isRead = last !== undefined && last.timestamp >= api.updatedAt
  const fields = isRead ? remarkable(last.changes).map(({ path }) => fieldName(path, LABELS)) : []
  const namesFields = last?.operation === 'API_UPDATED' || last?.operation === 'API_RESTORED'
  return (
    <Figure name="Changed last" value={<Time at={isRead ? last.timestamp : api.updatedAt} />}>
      {isRead && (
        <>
          {titleOf(last, { versions: versionNamesIn(history), environments })}
          {namesFields && fields.length > 0 && `: ${fields.join(', ')}`}
          <By who={starterOf(last.timestamp, history) ?? last.who} /> ·{' '}
        </>
      )}
      <AnchorLink {...PAGE} search={{ tab: 'history' }} inherit underline="always">
        History
      </AnchorLink>
    </Figure>
  )
}

function Fields({ api }: { api: Schemas['Api'] }) {
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h4" mb="sm">
        Details
      </Title>
      <DataList labelWidth={110} withDivider>
        <Detail label="Owner">
          {api.owner && (
            <AnchorLink to="/apis" search={{ owner: api.owner }} inherit title="All APIs of this owner">
              {api.ownerDisplayName ?? 'Deleted user'}
            </AnchorLink>
          )}
        </Detail>
        <Detail label="Name">
          <Copied value={api.name} what="name" wrap />
        </Detail>
        <Detail label="Base URL path">{api.url && <Outside url={api.url} />}</Detail>
        <Detail label="Platform type">{api.platformType}</Detail>
        <Detail label="Git repository">{api.gitUrl && <Outside url={api.gitUrl} />}</Detail>
        <Detail label="Git credential">
          {api.gitCredential && <Copied value={api.gitCredential} what="Git credential" wrap />}
        </Detail>
        <Detail label="Created">
          <Time at={api.createdAt} />
        </Detail>
        <Detail label="Id">
          <Copied value={api.id} what="id" wrap />
        </Detail>
      </DataList>
    </Paper>
  )
}

/** A field with a value. */
function Detail({ label, children }: { label: string; children: ReactNode }) {
  if (!children) return null
  return (
    <DataList.Item>
      <DataList.ItemLabel>{label}</DataList.ItemLabel>
      <DataList.ItemValue style={{ overflowWrap: 'anywhere', minWidth: 0 }}>{children}</DataList.ItemValue>
    </DataList.Item>
  )
}

const Tags = ({ tags }: { tags: readonly string[] }) => (
  <Group gap={6} mt="md" component="section" aria-label="Tags">
    {tags.map(tag => (
      <Badge key={tag}>{tag}</Badge>
    ))}
  </Group>
)
