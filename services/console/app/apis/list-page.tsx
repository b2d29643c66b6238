import { Stack, Table, TextInput, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { answer, client } from '../http/client.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Empty, Loading } from '../parts/states.tsx'
import { Time } from '../parts/time.tsx'

const route = getRouteApi('/inside/apis')

/** The catalogue of APIs. */
export function ApisPage() {
  const { search } = route.useSearch()
  const navigate = route.useNavigate()
  const apis = useQuery({
    queryKey: ['apis', search],
    queryFn: ({ signal }) => answer(client.GET('/apis', { params: { query: { search, size: 50 } }, signal })),
    placeholderData: keepPreviousData,
  })
  return (
    <Stack>
      <Title order={1} size="h2">
        APIs
      </Title>
      <TextInput
        type="search"
        aria-label="Search APIs"
        placeholder="Search"
        defaultValue={search}
        onChange={event =>
          navigate({ search: { search: event.currentTarget.value || undefined }, replace: true })
        }
      />
      {apis.isPending && <Loading what="the APIs" />}
      {apis.isError && (
        <ProblemPanel what="The APIs cannot be listed" error={apis.error} onRetry={() => apis.refetch()} />
      )}
      {apis.data?.content.length === 0 && <Empty title="No API matches">Change the search.</Empty>}
      <Table>
        <Table.Tbody>
          {apis.data?.content.map(api => (
            <Table.Tr key={api.id}>
              <Table.Td>{api.name}</Table.Td>
              <Table.Td>
                <Time at={api.updatedAt} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Stack>
  )
}
