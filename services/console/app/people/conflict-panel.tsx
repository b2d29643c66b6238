import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { client, tagged } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import { conflictsOf, draftOf, LABELS, type UserDraft } from './user-draft.ts'

interface ConflictPanelProps {
  /** The user as the form was opened with. */
  base: Schemas['User']
  draft: UserDraft
  onResolve: (current: { user: Schemas['User']; etag: string }, mine: boolean) => void
}

/** Compares what was typed with the user as somebody else has changed it meanwhile. */
export function ConflictPanel({ base, draft, onResolve }: ConflictPanelProps) {
  const current = useQuery({
    queryKey: ['users', 'conflict', base.id],
    queryFn: ({ signal }) =>
      tagged(client.GET('/users/{user_id}', { params: { path: { user_id: base.id } }, signal })),
    staleTime: 0,
    gcTime: 0,
  })
  if (current.isPending) return <Loading what="the current state" />
  if (current.isError)
    return (
      <ProblemPanel
        what="The current state cannot be shown"
        error={current.error}
        onRetry={() => void current.refetch()}
      />
    )
  const { body: user, etag } = current.data
  const before = draftOf(base)
  const conflicts = conflictsOf(draft, before, draftOf(user))
  return (
    <Alert color="yellow" role="alert" title="Somebody else has changed this user">
      <Stack gap="sm">
        {conflicts.length === 0 ? (
          <Text size="sm">Their changes and yours concern different fields.</Text>
        ) : (
          <Table aria-label="Fields that both have changed">
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Field</Table.Th>
                <Table.Th>Before</Table.Th>
                <Table.Th>Now</Table.Th>
                <Table.Th>Yours</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {conflicts.map(({ field, current, mine }) => (
                <Table.Tr key={field}>
                  <Table.Th scope="row">{LABELS[field]}</Table.Th>
                  <Table.Td>{String(before[field])}</Table.Td>
                  <Table.Td>{current}</Table.Td>
                  <Table.Td>{mine}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
        <Group>
          <Button size="xs" onClick={() => onResolve({ user, etag }, true)}>
            Keep mine and review
          </Button>
          <Button size="xs" variant="default" onClick={() => onResolve({ user, etag }, false)}>
            Discard mine
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
