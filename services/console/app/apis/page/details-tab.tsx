import { Badge, DataList, Grid, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Schemas } from '../../http/schemas.ts'
import { Copied } from '../../parts/copy.tsx'
import { Figure } from '../../parts/figure.tsx'
import { By } from '../../parts/history-list.tsx'
import { AnchorLink, Outside } from '../../parts/links.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { statusText } from '../../parts/statuses.tsx'
import { Time } from '../../parts/time.tsx'
import { starterOf } from './deployments.ts'
import { ImagePanel } from './image-panel.tsx'
import { OPERATIONS } from './operations.ts'
import { useHistory } from './use-history.ts'

/** What an API is, who owns it, where it runs and what changed last; then its other fields. */
export function DetailsTab({ api }: { api: Schemas['Api'] }) {
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Stack>
          <Answers api={api} />
          <Paper withBorder p="md">
            <Title order={2} size="h4" mb="sm">
              Description
            </Title>
            {api.description ? <Markdown text={api.description} /> : <em>No description</em>}
            {api.tags.length > 0 && <Tags tags={api.tags} />}
          </Paper>
          <Fields api={api} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <ImagePanel api={api} />
      </Grid.Col>
    </Grid>
  )
}

function Answers({ api }: { api: Schemas['Api'] }) {
  const history = useHistory(api)
  const [last] = history
  const { owner, ownerDisplayName, deployedOn = [], deploymentStatus } = api
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
      <Figure name="Owner" value={ownerDisplayName ?? (owner ? 'Deleted user' : 'Nobody')}>
        <AnchorLink to="/apis" search={owner ? { owner } : {}} inherit underline="always">
          Their APIs
        </AnchorLink>
      </Figure>
      <Figure
        name="Runs in"
        value={
          deployedOn.length === 0
            ? 'No environment'
            : deployedOn
                .map(({ environment, environmentName }) => environmentName ?? environment.slice(0, 8))
                .join(', ')
        }
      >
        {statusText(deploymentStatus)} ·{' '}
        <AnchorLink from="/apis/$apiId" to="." search={{ tab: 'deployments' }} inherit underline="always">
          Deployments
        </AnchorLink>
      </Figure>
      <Figure name="Changed last" value={<Time at={last?.timestamp ?? api.updatedAt} />}>
        {last && (
          <>
            {OPERATIONS[last.operation] ?? last.operation}
            <By who={starterOf(last.timestamp, history) ?? last.who} /> ·{' '}
          </>
        )}
        <AnchorLink from="/apis/$apiId" to="." search={{ tab: 'history' }} inherit underline="always">
          History
        </AnchorLink>
      </Figure>
    </SimpleGrid>
  )
}

function Fields({ api }: { api: Schemas['Api'] }) {
  return (
    <Paper withBorder p="md">
      <Title order={2} size="h4" mb="sm">
        Details
      </Title>
      <DataList labelWidth={150} withDivider>
        <Detail label="Name">
          <Copied value={api.name} what="name" />
        </Detail>
        <Detail label="Base URL path">{api.url && <Outside url={api.url} />}</Detail>
        <Detail label="Platform type">{api.platformType}</Detail>
        <Detail label="Git repository">{api.gitUrl && <Outside url={api.gitUrl} />}</Detail>
        <Detail label="Git credential">
          {api.gitCredential && <Copied value={api.gitCredential} what="Git credential" />}
        </Detail>
        <Detail label="Created">
          <Time at={api.createdAt} />
        </Detail>
        <Detail label="Id">
          <Copied value={api.id} what="id" />
        </Detail>
      </DataList>
    </Paper>
  )
}

function Detail({ label, children }: { label: string; children: ReactNode }) {
  return (
    <DataList.Item>
      <DataList.ItemLabel>{label}</DataList.ItemLabel>
      <DataList.ItemValue style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
        {children || <Text size="sm">–</Text>}
      </DataList.ItemValue>
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
