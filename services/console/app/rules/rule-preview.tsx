import { Alert, Badge, Button, Group, NativeSelect, Stack, Table, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { ReferencePicker } from '../parts/reference-picker.tsx'
import { Loading } from '../parts/states.tsx'
import { documentsQuery } from './reads.ts'
import { errorsOf, type RuleSetDraft } from './rule-set-draft.ts'

const CHOSEN = ['rule preview', 'api']

interface RulePreviewProps {
  draft: RuleSetDraft
  /** Id of the rule set that is edited. */
  ruleSet?: string
}

/** Applies the rules of a form to a document that the person chooses, before they are saved. */
export function RulePreview({ draft: { content }, ruleSet }: RulePreviewProps) {
  // Kept when the page of a new rule set becomes that of the created one.
  const cache = useQueryClient()
  const [api, setApi] = useState(() => cache.getQueryData<string | null>(CHOSEN) ?? undefined)
  const [version, setVersion] = useState<string>()
  const [document, setDocument] = useState<string>()
  const read = useQuery({ ...documentsQuery(api ?? ''), enabled: api !== undefined })
  const versions = read.data ?? []
  const inVersion = versions.find(({ id }) => id === version) ?? versions[0]
  const chosen = inVersion?.documents.find(({ name }) => name === document) ?? inVersion?.documents[0]
  const preview = useMutation({
    mutationFn: (body: Schemas['RuleSetPreviewInput']) => answer(client.previewRuleSet({ body })),
  })
  return (
    <Stack component="section" aria-label="Preview">
      <Title order={2} size="h4">
        Preview
      </Title>
      <Text size="sm">See what the rules find in a document before you save them.</Text>
      <ReferencePicker
        kind="api"
        label="API"
        value={api}
        onChange={id => {
          setApi(id)
          cache.setQueryData(CHOSEN, id ?? null)
          preview.reset()
        }}
      />
      {api !== undefined && read.isPending && <Loading what="the documents" />}
      {read.isError && (
        <ProblemPanel
          what="The documents cannot be listed"
          error={read.error}
          onRetry={() => void read.refetch()}
        />
      )}
      {read.data && !chosen && <Text size="sm">The API has no document of OpenAPI or AsyncAPI.</Text>}
      {api !== undefined && inVersion && chosen && (
        <>
          <NativeSelect
            label="Version"
            data={versions.map(({ id, name }) => ({ value: id, label: name }))}
            value={inVersion.id}
            onChange={event => setVersion(event.currentTarget.value)}
          />
          <NativeSelect
            label="Document"
            data={inVersion.documents.map(({ name }) => name)}
            value={chosen.name}
            onChange={event => setDocument(event.currentTarget.value)}
          />
          <Group>
            <Button
              variant="default"
              loading={preview.isPending}
              onClick={() =>
                preview.mutate({
                  ...{ content, api, version: inVersion.id, document: chosen.name },
                  ...(ruleSet !== undefined && { ruleSet }),
                })
              }
            >
              Show the preview
            </Button>
          </Group>
        </>
      )}
      {preview.isError && <NotApplied error={preview.error} />}
      {preview.data && (
        <Previewed preview={preview.data} isCurrent={preview.variables?.content === content} />
      )}
    </Stack>
  )
}

function NotApplied({ error }: { error: Error }) {
  const { content } = errorsOf(error)
  if (content === undefined) return <ProblemPanel what="The rules are not applied" error={error} />
  return (
    <Alert color="red" title="The rules are not applied" role="alert" style={{ whiteSpace: 'pre-line' }}>
      {content}
    </Alert>
  )
}

function Previewed({
  preview: { score, errors, warnings, findings, truncated },
  isCurrent,
}: {
  preview: Schemas['RuleSetPreview']
  isCurrent: boolean
}) {
  const count = (number: number, one: string) =>
    `${number.toLocaleString('en')} ${one}${number === 1 ? '' : 's'}`
  return (
    <Stack gap="xs">
      <Text fw={600} role="status">
        Score {score} of 100: this set finds {count(errors, 'error')}, {count(warnings, 'warning')}
      </Text>
      <Text size="xs">The score also counts what the other rule sets find.</Text>
      {!isCurrent && <Text size="sm">The rules have changed since.</Text>}
      {findings.length > 0 && (
        <Table aria-label="Findings of the rules" verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Line</Table.Th>
              <Table.Th>Finding</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {findings.map(({ severity, code, message, line }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: findings have no identity but their place
              <Table.Tr key={index}>
                <Table.Td>{line ?? ''}</Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>
                  <Badge size="sm" mr={6}>
                    {severity === 'ERROR' ? 'Error' : 'Warning'}
                  </Badge>
                  <Text span size="sm">
                    {message} ({code})
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {truncated && <Text size="sm">There are more findings than these.</Text>}
    </Stack>
  )
}
