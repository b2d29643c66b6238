import { Button, Group, NativeSelect, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useAllowed } from '../../http/session.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Empty, Loading } from '../../parts/states.tsx'
import { attachedDocumentsQuery, documentsQuery, newestVersionsQuery, type Version } from './reads.ts'
import { type DocumentsSearch, readDocumentsSearch } from './search.ts'
import { VersionDocuments } from './version-documents.tsx'

const route = getRouteApi('/inside/apis/$apiId')

/** The documents of the versions of an API. */
export function DocumentationTab({ api }: { api: string }) {
  const versions = useQuery(newestVersionsQuery(api))
  const attached = useQuery(attachedDocumentsQuery(api))
  const search = readDocumentsSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const failed = [versions, attached].find(({ isError }) => isError)
  if (failed)
    return (
      <ProblemPanel
        what="The versions cannot be listed"
        error={failed.error}
        onRetry={() => void failed.refetch()}
      />
    )
  if (!versions.data || !attached.data) return <Loading what="the versions" />
  const { content } = versions.data
  const version =
    content.find(({ id }) => id === search.version) ??
    content.find(({ id }) => attached.data.some(({ version }) => version === id)) ??
    content[0]
  if (!version) return <NoVersion onShow={() => navigate({ search: { tab: 'versions' } })} />
  const change = (changed: Partial<Record<keyof DocumentsSearch, unknown>>) =>
    navigate({
      search: {
        tab: 'documentation',
        ...readDocumentsSearch({ ...search, version: version.id, ...changed }),
      },
      replace: true,
      resetScroll: false,
    })
  const [newest] = content
  const newer = newest && attached.data.every(({ version }) => version !== newest.id) ? newest : undefined
  return (
    <OfVersion
      key={version.id}
      api={api}
      version={version}
      versions={content}
      newer={newer?.id === version.id ? undefined : newer}
      search={search}
      onChange={change}
    />
  )
}

function NoVersion({ onShow }: { onShow: () => void }) {
  const allowed = useAllowed('API_WRITE')
  return (
    <Empty title="No version yet">
      <Stack align="center" gap="xs">
        <Text>Documents belong to a version of the API, e.g. 1.2.0.</Text>
        {allowed && <Button onClick={onShow}>Go to the versions</Button>}
      </Stack>
    </Empty>
  )
}

interface OfVersionProps {
  api: string
  version: Version
  versions: readonly Version[]
  /** The newest version, if it is another one and has no document. */
  newer: Version | undefined
  search: DocumentsSearch
  onChange: (change: Partial<Record<keyof DocumentsSearch, unknown>>) => void
}

function OfVersion({ api, version, versions, newer, search, onChange }: OfVersionProps) {
  const path = { api_id: api, version_id: version.id }
  const documents = useQuery(documentsQuery(path))
  const choose = (
    <NativeSelect
      label="Version"
      data={versions.map(({ id, name }) => ({ value: id, label: name }))}
      value={version.id}
      onChange={event =>
        onChange({ version: event.currentTarget.value, document: undefined, operation: undefined })
      }
    />
  )
  if (documents.isError)
    return (
      <Stack>
        <Group>{choose}</Group>
        <ProblemPanel
          what="The documents cannot be listed"
          error={documents.error}
          onRetry={() => void documents.refetch()}
        />
      </Stack>
    )
  if (!documents.data) return <Loading what="the documents" />
  return (
    <Stack>
      {newer && (
        <Group gap="xs">
          <Text size="sm">The newest version, {newer.name}, has no document yet.</Text>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => onChange({ version: newer.id, document: undefined, operation: undefined })}
          >
            Show {newer.name}
          </Button>
        </Group>
      )}
      <VersionDocuments
        path={path}
        documents={documents.data.content}
        versions={versions}
        chooseVersion={choose}
        search={search}
        onChange={onChange}
      />
    </Stack>
  )
}
