import { Badge, Center, Group, NativeSelect, Stack, Tabs, Text, Title, UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useAllowed } from '../../http/session.ts'
import { OVER, useDrop } from '../../parts/drop.ts'
import type { OperationPlace } from '../../parts/frame-messages.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { KINDS, ScoreBadge } from '../../parts/score-badge.tsx'
import { Loading } from '../../parts/states.tsx'
import { ChangesView } from './changes-view.tsx'
import { DocumentActions } from './document-actions.tsx'
import { DocumentFrame } from './document-frame.tsx'
import classes from './documents.module.css'
import { FindingsView } from './findings-view.tsx'
import { OperationsView } from './operations-view.tsx'
import {
  awaitsScore,
  type DocumentRecord,
  isShown,
  primaryOf,
  textQuery,
  type Version,
  type VersionPath,
} from './reads.ts'
import type { DocumentsSearch, DocumentsView } from './search.ts'
import { ChooseFile, UploadPanel } from './upload-panel.tsx'
import { type Uploading, useUpload } from './use-upload.ts'

interface VersionDocumentsProps {
  path: VersionPath
  documents: readonly DocumentRecord[]
  /** All versions of the API. */
  versions: readonly Version[]
  chooseVersion: ReactNode
  search: DocumentsSearch
  onChange: (change: Partial<Record<keyof DocumentsSearch, unknown>>) => void
}

/** The documents of a version: one of them is shown, and a file that is dropped here becomes another one. */
export function VersionDocuments(props: VersionDocumentsProps) {
  const { path, documents, versions, chooseVersion, search, onChange } = props
  const allowed = useAllowed('API_WRITE')
  const version = versions.find(({ id }) => id === path.version_id)?.name ?? ''
  const uploading = useUpload(path, version, documents, stored =>
    onChange({ document: stored.name, view: undefined, operation: undefined }),
  )
  const { over, ...dropping } = useDrop(files => uploading.drop(files), allowed)
  const shown = documents.find(({ name }) => name === search.document) ?? primaryOf(documents)
  return (
    <Stack {...dropping} style={over ? OVER : {}} component="section" aria-label="Documents">
      <Group align="end" gap="sm">
        {chooseVersion}
        {shown && (
          <NativeSelect
            label="Document"
            data={documents.map(({ name, primary }) => ({
              value: name,
              label: primary && documents.length > 1 ? `${name} (primary)` : name,
            }))}
            value={shown.name}
            onChange={event => onChange({ document: event.currentTarget.value, operation: undefined })}
          />
        )}
        {shown && (
          <About document={shown} onFindings={() => onChange({ view: 'findings', page: undefined })} />
        )}
        <Group gap="xs" ml="auto">
          {shown && <DocumentActions path={path} document={shown} uploading={uploading} />}
          {shown && allowed && (
            <ChooseFile
              label={`Add document to ${version}`}
              disabled={uploading.storing.isPending}
              onChoose={file => uploading.drop([file])}
            />
          )}
        </Group>
      </Group>
      <UploadPanel uploading={uploading} />
      {shown && <Views {...props} document={shown} />}
      {!shown && !uploading.storing.isPending && <NoDocument allowed={allowed} uploading={uploading} />}
    </Stack>
  )
}

interface AboutProps {
  document: DocumentRecord
  onFindings: () => void
}

function About({ document, onFindings }: AboutProps) {
  const { counts, findings, score } = document
  return (
    <Group gap={6} mb={8}>
      <Badge>{KINDS[document.kind]}</Badge>
      {score === 100 && <ScoreBadge score={score} />}
      {score !== null && score < 100 && (
        <UnstyledButton className={classes.score} title="Show the findings" onClick={onFindings}>
          <ScoreBadge score={score} />
        </UnstyledButton>
      )}
      {awaitsScore(document) && <Text size="sm">The rules are being checked</Text>}
      {counts.schemas > 0 && <Text size="sm">{counted(counts.schemas, 'schema')}</Text>}
      {findings.errors > 0 && <Text size="sm">{counted(findings.errors, 'schema error')}</Text>}
      {findings.warnings > 0 && <Text size="sm">{counted(findings.warnings, 'schema warning')}</Text>}
    </Group>
  )
}

const counted = (count: number, what: string) =>
  `${count.toLocaleString('en')} ${count === 1 ? what : `${what}s`}`

function NoDocument({ allowed, uploading }: { allowed: boolean; uploading: Uploading }) {
  return (
    <Center className={classes.place} py={56} px="md">
      <Stack align="center" gap="xs">
        <Title order={2} size="h4">
          {allowed ? 'No document yet: drop a file here' : 'No document yet'}
        </Title>
        {allowed && <Text>It becomes a document of version {uploading.version}.</Text>}
        <Text c="dimmed" ta="center" maw={520}>
          OpenAPI, AsyncAPI, GraphQL, Protobuf (one file or a zip), WSDL, Postman, JSON Schema, Markdown or
          any other file, at most 20 MiB. Its content decides the kind, not its name.
        </Text>
        {allowed && <ChooseFile label="Choose a file" onChoose={file => uploading.drop([file])} />}
      </Stack>
    </Center>
  )
}

type ViewsProps = VersionDocumentsProps & { document: DocumentRecord }

function Views({ path, document, documents, versions, search, onChange }: ViewsProps) {
  const { view: asked = 'reference' } = search
  const view = asked === 'changes' && versions.length < 2 ? 'reference' : asked
  const operations = documents.reduce((sum, { counts }) => sum + counts.operations, 0)
  const findings = document.findings.errors + document.findings.warnings
  const choose = (view: string | null) => onChange({ view: view as DocumentsView, page: undefined })
  return (
    <Tabs value={view} onChange={choose} keepMounted={false} variant="pills">
      <Tabs.List aria-label="Views of the document">
        <Tabs.Tab value="reference">Document</Tabs.Tab>
        {operations > 0 && <Tabs.Tab value="operations">{counted(operations, 'operation')}</Tabs.Tab>}
        {versions.length > 1 && <Tabs.Tab value="changes">What changed</Tabs.Tab>}
        {(findings > 0 || (document.score !== null && document.score < 100)) && (
          <Tabs.Tab value="findings">Findings</Tabs.Tab>
        )}
      </Tabs.List>
      <Tabs.Panel value="reference" pt="sm">
        <Reference
          key={`${document.name} ${document.sha256}`}
          path={path}
          document={document}
          operation={search.operation}
        />
      </Tabs.Panel>
      <Tabs.Panel value="operations" pt="sm">
        <OperationsView path={path} documents={documents} search={search} onChange={onChange} />
      </Tabs.Panel>
      <Tabs.Panel value="changes" pt="sm">
        <ChangesView
          path={path}
          document={document}
          versions={versions}
          from={search.from}
          onFrom={from => onChange({ from })}
        />
      </Tabs.Panel>
      <Tabs.Panel value="findings" pt="sm">
        <FindingsView path={path} document={document} />
      </Tabs.Panel>
    </Tabs>
  )
}

interface ReferenceProps {
  path: VersionPath
  document: DocumentRecord
  operation: string | undefined
}

function Reference({ path, document, operation }: ReferenceProps) {
  const { name, kind, mediaType } = document
  const text = useQuery({ ...textQuery(path, document), enabled: isShown(document) })
  if (!isShown(document))
    return (
      <Center className={classes.place} py={56} px="md">
        <Text ta="center">
          {kind === 'other'
            ? 'The console does not show documents of this kind. Download it with Actions.'
            : 'The console does not show what is in the zip. Download it with Actions.'}
        </Text>
      </Center>
    )
  if (text.isError)
    return (
      <ProblemPanel
        what="The document cannot be read"
        error={text.error}
        onRetry={() => void text.refetch()}
      />
    )
  if (text.data === undefined) return <Loading what={name} />
  return (
    <DocumentFrame
      // A frame that was shown without an operation has folded the place of most operations.
      key={String(operation === undefined)}
      name={name}
      shown={{ kind, mediaType, text: text.data }}
      operation={operation === undefined ? undefined : placeOf(operation)}
    />
  )
}

/** @param operation method and path, e.g. `GET /pets` */
function placeOf(operation: string): OperationPlace {
  const space = operation.indexOf(' ')
  return { method: operation.slice(0, space), path: operation.slice(space + 1) }
}
