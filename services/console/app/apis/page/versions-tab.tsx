import { Button, Group, Menu, Stack, Table, Text, Title } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
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
import { KINDS, ScoreBadge } from '../../parts/score-badge.tsx'
import { Empty, Loading } from '../../parts/states.tsx'
import { StatusBadge } from '../../parts/statuses.tsx'
import { Time } from '../../parts/time.tsx'
import { attachedDocumentsQuery, documentsQuery, newestVersionsQuery, primaryOf } from '../documents/reads.ts'
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

type Attached = NonNullable<Schemas['Api']['documents']>[number]

/** What is known of the documents of a version. */
interface Documented {
  documents: readonly Attached[]
  /** The version before it that has documents too, if there is one. */
  before: Version | undefined
  /** Whether it is one of the newest, whose scores are read. */
  isScored: boolean
}

/** Versions whose scores are read: each takes a request. */
const SCORED = 20

/** The versions with documents, by id. Undefined while they are read. */
function useDocumented(api: string): ReadonlyMap<string, Documented> | undefined {
  const { data: newest } = useQuery(newestVersionsQuery(api))
  const { data: attached } = useQuery(attachedDocumentsQuery(api))
  if (!newest || !attached) return undefined
  const byVersion = Map.groupBy(attached, ({ version }) => version)
  const those = newest.content.filter(({ id }) => byVersion.has(id))
  return new Map(
    those.map(({ id }, index) => [
      id,
      { documents: byVersion.get(id) ?? [], before: those[index + 1], isScored: index < SCORED },
    ]),
  )
}

interface VersionTableProps {
  api: string
  versions: readonly Version[]
  allowed: boolean
  onDo: (doing: Doing) => void
}

function VersionTable({ api, versions, allowed, onDo }: VersionTableProps) {
  const documented = useDocumented(api)
  const isWide = useMediaQuery('(min-width: 48em)', true, { getInitialValueInEffect: false })
  return (
    <Table verticalSpacing="xs" highlightOnHover aria-label="Versions">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Name</Table.Th>
          {isWide && (
            <>
              <Table.Th>Document</Table.Th>
              <Table.Th>Operations</Table.Th>
              <Table.Th>Score</Table.Th>
              <Table.Th>Status</Table.Th>
              <Table.Th>Changed</Table.Th>
            </>
          )}
          <Table.Th ta="end">Actions</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {versions.map(version => (
          <VersionRow
            key={version.id}
            api={api}
            version={version}
            documented={documented}
            isWide={isWide}
            allowed={allowed}
            onDo={onDo}
          />
        ))}
      </Table.Tbody>
    </Table>
  )
}

interface VersionRowProps extends Omit<VersionTableProps, 'versions'> {
  version: Version
  documented: ReadonlyMap<string, Documented> | undefined
  /** Otherwise the row has a column for everything. */
  isWide: boolean
}

function VersionRow({ api, version, documented, isWide, allowed, onDo }: VersionRowProps) {
  const those = documented?.get(version.id)
  const primary = primaryOf(those?.documents ?? [])
  const operations =
    primary && those?.documents.reduce((sum, { counts }) => sum + counts.operations, 0).toLocaleString('en')
  const document = documented && (
    <Documents api={api} version={version} documents={those?.documents ?? []} allowed={allowed} />
  )
  const score = those?.isScored && primary && <Score api={api} version={version} name={primary.name} />
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <AnchorLink
          to="/apis/$apiId"
          params={{ apiId: api }}
          search={{ tab: 'documentation', version: version.id }}
          inherit
          display="inline-block"
          mih={24}
          miw={24}
          title="Documentation of this version"
        >
          {version.name}
        </AnchorLink>
        {version.displayName !== version.name && <Text size="sm">{version.displayName}</Text>}
        {version.description && <Markdown text={version.description} />}
        <Comparison api={api} version={version} before={those?.before} />
        {!isWide && (
          <Stack gap={4} mt={4} align="start">
            {document}
            {primary && (
              <Text size="sm">
                {operations} {operations === '1' ? 'operation' : 'operations'}
              </Text>
            )}
            {score}
            <StatusBadge status={version.status} />
          </Stack>
        )}
      </Table.Td>
      {isWide && (
        <>
          <Table.Td>{document}</Table.Td>
          <Table.Td>{operations ?? '–'}</Table.Td>
          <Table.Td>{score || '–'}</Table.Td>
          <Table.Td>
            <StatusBadge status={version.status} />
          </Table.Td>
          <Table.Td>
            <Time at={version.updatedAt} />
          </Table.Td>
        </>
      )}
      <Table.Td ta="end">
        <Actions version={version} allowed={allowed} onDo={onDo} />
      </Table.Td>
    </Table.Tr>
  )
}

interface DocumentsProps {
  api: string
  version: Version
  documents: readonly Attached[]
  allowed: boolean
}

/** The primary document of a version, or a link to add one. */
function Documents({ api, version, documents, allowed }: DocumentsProps) {
  const shown = primaryOf(documents)
  if (!shown)
    return allowed ? (
      <AnchorLink
        to="/apis/$apiId"
        params={{ apiId: api }}
        search={{ tab: 'documentation', version: version.id }}
        size="sm"
        aria-label={`Add document to ${version.name}`}
      >
        Add document
      </AnchorLink>
    ) : (
      <Text size="sm">None</Text>
    )
  return (
    <Group gap={6}>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {shown.name}
      </Text>
      <Text size="xs" c="dimmed">
        {KINDS[shown.kind]}
        {documents.length > 1 && ` and ${documents.length - 1} more`}
      </Text>
    </Group>
  )
}

/** The score of a document, which leads to its findings. */
function Score({ api, version, name }: { api: string; version: Version; name: string }) {
  const { data } = useQuery(documentsQuery({ api_id: api, version_id: version.id }))
  const score = data?.content.find(document => document.name === name)?.score
  if (typeof score !== 'number') return '–'
  return (
    <AnchorLink
      to="/apis/$apiId"
      params={{ apiId: api }}
      search={{
        ...{ tab: 'documentation', version: version.id, document: name },
        ...(score < 100 && { view: 'findings' }),
      }}
      title="Show the findings"
    >
      <ScoreBadge score={score} />
    </AnchorLink>
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
    >
      Compare {version.name} with {before.name}
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
