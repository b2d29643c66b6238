import { Button, Code, Group, Paper, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { Schemas } from '../../http/schemas.ts'
import { useAllowed } from '../../http/session.ts'
import { Changes, fieldName, inWords, valueText } from '../../parts/changes.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { Loading } from '../../parts/states.tsx'
import { StatusBadge } from '../../parts/statuses.tsx'
import { exactTime } from '../../parts/time.tsx'
import { LABELS } from '../form/draft.ts'
import { pastApiQuery, versionsQuery } from './reads.ts'
import { RestoreDialog } from './restore-dialog.tsx'

type Api = Schemas['Api']

/** The fields of a state. The restorable ones are those that a request sets. */
const RESTORED = [
  'name',
  'displayName',
  'description',
  'status',
  'tags',
  'owner',
  'platformType',
  'url',
  'gitUrl',
  'gitCredential',
] as const satisfies readonly (keyof Api)[]
const SHOWN = [...RESTORED, 'hasImage', 'deploymentStatus'] as const satisfies readonly (keyof Api)[]

interface PastStateProps {
  id: string
  at: string
  now: { api: Api; etag: string } | undefined
  onBack: () => void
}

/** An API as it was at a time, with what differs from today. */
export function PastState({ id, at, now, onBack }: PastStateProps) {
  const past = useQuery({ ...pastApiQuery(id, at), placeholderData: keepPreviousData })
  const panel = useRef<HTMLElement>(null)
  // On a phone it is above the changes, of which the person has chosen one.
  useEffect(() => {
    if (at) panel.current?.scrollIntoView({ block: 'nearest' })
  }, [at])
  return (
    <Paper
      withBorder
      p="md"
      component="section"
      aria-label="State at the chosen time"
      ref={panel}
      tabIndex={0}
      style={{ scrollMarginTop: 68 }}
    >
      <Stack gap="sm">
        <Title order={2} size="h4">
          As it was on {exactTime(at)}
        </Title>
        {past.isPending && <Loading what="the earlier state" />}
        {past.isError && (
          <>
            <ProblemPanel
              what="There is no state to show"
              error={past.error}
              onRetry={() => past.refetch()}
            />
            <Button variant="default" onClick={onBack}>
              Back to now
            </Button>
          </>
        )}
        {past.data && (
          <>
            <Restoration at={at} then={past.data} now={now} ready={!past.isPlaceholderData} />
            <Fields then={past.data} now={now?.api} />
            <Versions id={id} at={at} />
            <Environments then={past.data} />
          </>
        )}
      </Stack>
    </Paper>
  )
}

const differs = (field: keyof Api, one: Api, other: Api) =>
  JSON.stringify(one[field]) !== JSON.stringify(other[field])

function Fields({ then, now }: { then: Api; now: Api | undefined }) {
  return (
    <Table verticalSpacing={4} horizontalSpacing={6} layout="fixed">
      <Table.Thead>
        <Table.Tr>
          <Table.Th w={{ base: 100, sm: 140 }}>Field</Table.Th>
          <Table.Th>Then</Table.Th>
          {now && <Table.Th>Now, where it differs</Table.Th>}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {SHOWN.map(field => (
          <Table.Tr key={field} style={{ verticalAlign: 'top', overflowWrap: 'anywhere' }}>
            <Table.Th scope="row" fw={500}>
              {fieldName(`/${field}`, LABELS)}
            </Table.Th>
            <Table.Td>{textOf(field, then) || '–'}</Table.Td>
            {now && (
              <Table.Td>
                {differs(field, then, now) && (
                  <Text component="mark" inherit px={4} bg="var(--mantine-color-yellow-light)" c="inherit">
                    {textOf(field, now) || 'no value'}
                  </Text>
                )}
              </Table.Td>
            )}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

/** The value of a field; of the owner their name, if it is known. */
const textOf = (field: (typeof SHOWN)[number], api: Api) =>
  field === 'owner' ? (api.ownerDisplayName ?? valueText(api.owner)) : valueText(inWords(field, api[field]))

function Versions({ id, at }: { id: string; at: string }) {
  const versions = useInfiniteQuery({ ...versionsQuery(id, at), placeholderData: keepPreviousData })
  const all = versions.data?.pages.flatMap(({ content }) => content) ?? []
  return (
    <div>
      <Title order={3} size="h5" mb={4}>
        Versions
      </Title>
      {versions.isError && <ProblemPanel what="The versions cannot be listed" error={versions.error} />}
      {versions.isSuccess && all.length === 0 && <Text size="sm">None</Text>}
      <Group gap="xs">
        {all.map(({ id: version, name, status }) => (
          <Group key={version} gap={4}>
            <Code>{name}</Code>
            <StatusBadge status={status} />
          </Group>
        ))}
        {versions.hasNextPage && <Text size="sm">and more</Text>}
      </Group>
    </div>
  )
}

function Environments({ then }: { then: Api }) {
  const environments = then.deployedOn ?? []
  return (
    <div>
      <Title order={3} size="h5" mb={4}>
        Deployed to
      </Title>
      {environments.length === 0 && <Text size="sm">No environment</Text>}
      {environments.map(({ environment, environmentName }) => (
        <div key={environment}>{environmentName ?? <Code>{environment}</Code>}</div>
      ))}
    </div>
  )
}

interface RestorationProps {
  at: string
  then: Api
  now: PastStateProps['now']
  /** False while `then` is still the state of another time. */
  ready: boolean
}

/** Offers to restore the fields that differ from today. */
function Restoration({ at, then, now, ready }: RestorationProps) {
  const [open, setOpen] = useState(false)
  const allowed = useAllowed('API_WRITE')
  if (!now || !allowed) return null
  const changes = RESTORED.filter(field => differs(field, then, now.api)).map(field => ({
    op: 'replace' as const,
    path: `/${field}`,
    before: field === 'owner' ? textOf(field, now.api) : now.api[field],
    value: field === 'owner' ? textOf(field, then) : then[field],
  }))
  if (changes.length === 0) return <Text size="sm">The fields that can be restored are the same now.</Text>
  return (
    <>
      <Group>
        <Button disabled={!ready} onClick={() => setOpen(true)}>
          Restore this state
        </Button>
      </Group>
      {open && (
        <RestoreDialog api={now.api} etag={now.etag} at={at} onClose={() => setOpen(false)}>
          <Changes changes={changes} labels={LABELS} />
        </RestoreDialog>
      )}
    </>
  )
}
