import { Button, Group, Menu, Stack, Table, Text, Title, VisuallyHidden } from '@mantine/core'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client, tagged } from '../../http/client.ts'
import { RequestFailed } from '../../http/problem.ts'
import type { Schemas } from '../../http/schemas.ts'
import { useAllowed } from '../../http/session.ts'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { AnchorLink } from '../../parts/links.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Empty, Loading } from '../../parts/states.tsx'
import { StatusBadge } from '../../parts/statuses.tsx'
import { Time } from '../../parts/time.tsx'
import { attachedDocumentsQuery, newestVersionsQuery } from '../documents/reads.ts'
import { readAgain, versionsQuery } from './reads.ts'
import { VersionDialog } from './version-dialog.tsx'
import { VersionHistoryDialog } from './version-history-dialog.tsx'

type Version = Schemas['Version']

/** What the person does with a version. */
type Doing = { what: 'create' } | { what: 'edit' | 'delete' | 'history'; version: Version }

/** The versions of an API. */
export function VersionsTab({ api }: { api: Schemas['Api'] }) {
  const versions = useInfiniteQuery(versionsQuery(api.id))
  const [doing, setDoing] = useState<Doing>()
  const allowed = useAllowed('API_WRITE')
  const all = versions.data?.pages.flatMap(({ content }) => content)
  const add = allowed && <Button onClick={() => setDoing({ what: 'create' })}>Add version</Button>
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={2} size="h4">
          Versions
        </Title>
        {add}
      </Group>
      {versions.isPending && <Loading what="the versions" />}
      {versions.isError && (
        <ProblemPanel
          what="The versions cannot be listed"
          error={versions.error}
          onRetry={() => versions.refetch()}
        />
      )}
      {all?.length === 0 && (
        <Empty title="No versions yet">
          A version has a label such as 1.2.0 and a status that tells users whether to adopt it.
        </Empty>
      )}
      {all && all.length > 0 && (
        <VersionTable api={api.id} versions={all} allowed={allowed} onDo={setDoing} />
      )}
      {versions.hasNextPage && (
        <Button
          variant="default"
          loading={versions.isFetchingNextPage}
          onClick={() => versions.fetchNextPage()}
          style={{ alignSelf: 'center' }}
        >
          Show more versions
        </Button>
      )}
      <Dialog api={api.id} doing={doing} onClose={() => setDoing(undefined)} />
    </Stack>
  )
}

/** The versions with documents, by id, each with the one before it that has documents too, if there is one. */
function useDocumented(api: string): ReadonlyMap<string, Version | undefined> {
  const { data: newest } = useQuery(newestVersionsQuery(api))
  const { data: attached = [] } = useQuery(attachedDocumentsQuery(api))
  const those = newest?.content.filter(({ id }) => attached.some(({ version }) => version === id)) ?? []
  return new Map(those.map(({ id }, index) => [id, those[index + 1]]))
}

interface VersionTableProps {
  api: string
  versions: readonly Version[]
  allowed: boolean
  onDo: (doing: Doing) => void
}

function VersionTable({ api, versions, allowed, onDo }: VersionTableProps) {
  const documented = useDocumented(api)
  return (
    <Table verticalSpacing="xs" highlightOnHover aria-label="Versions">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Name</Table.Th>
          <Table.Th>Status</Table.Th>
          <Table.Th visibleFrom="sm">Changed</Table.Th>
          <Table.Th>
            <VisuallyHidden>Actions</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {versions.map(version => (
          <Table.Tr key={version.id}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              {documented.has(version.id) ? (
                <AnchorLink
                  to="/apis/$apiId"
                  params={{ apiId: api }}
                  search={{ tab: 'documentation', version: version.id }}
                  inherit
                  title="Documentation of this version"
                >
                  {version.name}
                </AnchorLink>
              ) : (
                version.name
              )}
              {version.displayName !== version.name && <Text size="sm">{version.displayName}</Text>}
              {version.description && <Markdown text={version.description} />}
              <Comparison api={api} version={version} before={documented.get(version.id)} />
            </Table.Td>
            <Table.Td>
              <StatusBadge status={version.status} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Time at={version.updatedAt} />
            </Table.Td>
            <Table.Td>
              <Actions version={version} allowed={allowed} onDo={onDo} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

/** A link to what changed since the version before; the page that it opens offers all others. */
function Comparison({
  api,
  version,
  before,
}: {
  api: string
  version: Version
  before: Version | undefined
}) {
  if (!before) return null
  return (
    <AnchorLink
      to="/apis/$apiId"
      params={{ apiId: api }}
      search={{ tab: 'documentation', version: version.id, view: 'changes', from: before.id }}
      size="xs"
      display="block"
      aria-label={`Compare ${version.name} with ${before.name}`}
    >
      Compare with {before.name}
    </AnchorLink>
  )
}

interface ActionsProps extends Pick<VersionTableProps, 'allowed' | 'onDo'> {
  version: Version
}

function Actions({ version, allowed, onDo }: ActionsProps) {
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="compact-sm" variant="default" aria-label={`Actions for version ${version.name}`}>
          Actions
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {allowed && <Menu.Item onClick={() => onDo({ what: 'edit', version })}>Edit</Menu.Item>}
        <Menu.Item onClick={() => onDo({ what: 'history', version })}>History</Menu.Item>
        {allowed && <Menu.Item onClick={() => onDo({ what: 'delete', version })}>Delete</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  )
}

const CHANGED = {
  status: 0,
  code: 'changed-since-listed',
  title: 'It has changed since it was listed',
  detail: 'Close this dialog and look at the version first.',
}

function Dialog({ api, doing, onClose }: { api: string; doing: Doing | undefined; onClose: () => void }) {
  const queries = useQueryClient()
  if (!doing) return null
  if (doing.what === 'create') return <VersionDialog api={api} onClose={onClose} />
  const { what, version } = doing
  if (what === 'edit') return <VersionDialog api={api} version={version} onClose={onClose} />
  if (what === 'history') return <VersionHistoryDialog version={version} onClose={onClose} />
  const path = { api_id: api, version_id: version.id }
  const remove = async () => {
    const { body, etag } = await tagged(client.getVersion(path))
    if (body.updatedAt !== version.updatedAt) {
      await readAgain(queries, api)
      throw new RequestFailed(CHANGED)
    }
    await answer(client.deleteVersion(path, { ifMatch: etag }))
    await readAgain(queries, api)
  }
  return (
    <ConfirmDialog
      title={`Delete version ${version.name}?`}
      action="Delete version"
      failed="The version is not deleted"
      color="red"
      onConfirm={remove}
      onClose={onClose}
    >
      <Text size="sm">Its history stays readable in the history of the API.</Text>
    </ConfirmDialog>
  )
}
