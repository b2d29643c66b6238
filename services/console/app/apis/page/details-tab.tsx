import { Anchor, Badge, Code, DataList, Grid, Group, Paper, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Schemas } from '../../http/schemas.ts'
import { Time } from '../../parts/time.tsx'
import { ImagePanel } from './image-panel.tsx'

/** The fields of an API and its image. */
export function DetailsTab({ api }: { api: Schemas['Api'] }) {
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 8 }}>
        <Paper withBorder p="md">
          <Title order={2} size="h4" mb="sm">
            Details
          </Title>
          <Text size="sm" mb="md" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {api.description || <em>No description</em>}
          </Text>
          <DataList labelWidth={150} withDivider>
            <Detail label="Tags">{api.tags.length > 0 && <Tags tags={api.tags} />}</Detail>
            <Detail label="Owner">{api.ownerDisplayName ?? (api.owner && <Code>{api.owner}</Code>)}</Detail>
            <Detail label="Platform type">{api.platformType}</Detail>
            <Detail label="Base URL path">{api.url && <Code>{api.url}</Code>}</Detail>
            <Detail label="Git repository">{api.gitUrl && <Outside url={api.gitUrl} />}</Detail>
            <Detail label="Git credential">{api.gitCredential && <Code>{api.gitCredential}</Code>}</Detail>
            <Detail label="Created">
              <Time at={api.createdAt} />
            </Detail>
            <Detail label="Changed">
              <Time at={api.updatedAt} />
            </Detail>
            <Detail label="Id">
              <Code>{api.id}</Code>
            </Detail>
          </DataList>
        </Paper>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 4 }}>
        <ImagePanel api={api} />
      </Grid.Col>
    </Grid>
  )
}

function Detail({ label, children }: { label: string; children: ReactNode }) {
  return (
    <DataList.Item>
      <DataList.ItemLabel>{label}</DataList.ItemLabel>
      <DataList.ItemValue style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
        {children || '–'}
      </DataList.ItemValue>
    </DataList.Item>
  )
}

const Tags = ({ tags }: { tags: readonly string[] }) => (
  <Group gap={6}>
    {tags.map(tag => (
      <Badge key={tag} variant="default" tt="none" fw={500}>
        {tag}
      </Badge>
    ))}
  </Group>
)

/** A link only for http and https: the text comes from any caller of the interface. */
function Outside({ url }: { url: string }) {
  if (!/^https?:\/\//i.test(url)) return <Code>{url}</Code>
  return (
    <Anchor href={url} target="_blank" rel="noreferrer" inherit>
      {url}
    </Anchor>
  )
}
