import '../more-styles.ts'
import { Button, Group, Stack, Table, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { answer, client } from '../http/client.ts'
import type { Schemas } from '../http/schemas.ts'
import { useAllowed } from '../http/session.ts'
import { Copied } from '../parts/copy.tsx'
import { EmptyPage, isBeyondEnd } from '../parts/empty-page.tsx'
import { EnvironmentDialog, NewEnvironmentDialog } from '../parts/environment-dialog.tsx'
import { IN_ORDER } from '../parts/environments.ts'
import { AnchorLink } from '../parts/links.tsx'
import { Pages } from '../parts/pagination.tsx'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Empty, Loading } from '../parts/states.tsx'
import { readEnvironmentSearch } from './search.ts'

const route = getRouteApi('/inside/environments')
const SIZE = 50

/** The environments in their order, with what is deployed in each. */
export function EnvironmentsPage() {
  const { page = 1 } = readEnvironmentSearch({ ...route.useSearch() })
  const navigate = route.useNavigate()
  const mayWrite = useAllowed('ENVIRONMENT_WRITE')
  const [creating, setCreating] = useState(false)
  const environments = useQuery({
    queryKey: ['environments', 'list', page],
    queryFn: ({ signal }) =>
      answer(client.listEnvironments({ page, size: SIZE, sort: IN_ORDER }, { signal })),
    placeholderData: keepPreviousData,
  })
  return (
    <Stack>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Environments
        </Title>
        {mayWrite && <Button onClick={() => setCreating(true)}>Create environment</Button>}
      </Group>
      <Text size="sm">
        Where APIs are deployed, e.g. staging and production, in the order of their positions.
      </Text>
      {environments.isPending && <Loading what="the environments" />}
      {environments.isError && (
        <ProblemPanel
          what="The environments cannot be listed"
          error={environments.error}
          onRetry={() => void environments.refetch()}
        />
      )}
      {environments.data?.totalElements === 0 && (
        <Empty title="No environment yet">
          {mayWrite ? 'Create one, or deploy an API.' : 'The first deployment of an API adds one.'}
        </Empty>
      )}
      {environments.data && isBeyondEnd(environments.data) && (
        <EmptyPage onFirst={() => navigate({ search: {}, replace: true })} />
      )}
      {environments.data && environments.data.content.length > 0 && (
        <>
          <EnvironmentTable environments={environments.data.content} mayWrite={mayWrite} />
          <Pages
            what="environments"
            one="environment"
            page={environments.data}
            onPage={page => navigate({ search: readEnvironmentSearch({ page }), replace: true })}
          />
        </>
      )}
      {creating && <NewEnvironmentDialog onClose={() => setCreating(false)} />}
    </Stack>
  )
}

interface EnvironmentTableProps {
  environments: readonly Schemas['Environment'][]
  mayWrite: boolean
}

function EnvironmentTable({ environments, mayWrite }: EnvironmentTableProps) {
  const [edited, setEdited] = useState<string>()
  return (
    <>
      <Table verticalSpacing="sm" aria-label="Environments">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Environment</Table.Th>
            <Table.Th visibleFrom="sm">Position</Table.Th>
            <Table.Th visibleFrom="md">Id</Table.Th>
            <Table.Th>Deployed APIs</Table.Th>
            {mayWrite && <Table.Th ta="end">Actions</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {environments.map(({ id, name, displayName, position, apis }) => (
            <Table.Tr key={id}>
              <Table.Th scope="row" style={{ overflowWrap: 'anywhere' }}>
                {displayName ?? name ?? 'No name yet'}
                {position !== null && (
                  <Text size="xs" hiddenFrom="sm">
                    Position {position}
                  </Text>
                )}
                <Text size="xs" c="dimmed" hiddenFrom="md" style={{ wordBreak: 'break-all' }}>
                  {id}
                </Text>
              </Table.Th>
              <Table.Td visibleFrom="sm">{position ?? '–'}</Table.Td>
              <Table.Td visibleFrom="md">
                <Copied value={id} what="environment id" />
              </Table.Td>
              <Table.Td>
                {apis === 0 ? (
                  'None'
                ) : (
                  <AnchorLink to="/apis" search={{ environment: id }} size="sm">
                    {apis === 1 ? '1 API' : `${apis} APIs`}
                  </AnchorLink>
                )}
              </Table.Td>
              {mayWrite && (
                <Table.Td ta="end">
                  <Button
                    size="compact-sm"
                    variant="default"
                    aria-label={`${name === null ? 'Name' : 'Edit'} ${name ?? id}`}
                    onClick={() => setEdited(id)}
                  >
                    {name === null ? 'Name' : 'Edit'}
                  </Button>
                </Table.Td>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {edited && <EnvironmentDialog id={edited} onClose={() => setEdited(undefined)} />}
    </>
  )
}
