import '../more-styles.ts'
import { Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { answer, client } from '../http/client.ts'
import { ProblemPanel } from '../parts/problem-panel.tsx'
import { Loading } from '../parts/states.tsx'
import { Trail } from '../parts/trail.tsx'
import { Creation } from './creation.tsx'
import { readNewWebhookSearch } from './search.ts'
import { eventTypesQuery } from './webhook-queries.ts'

const route = getRouteApi('/inside/webhooks/new')

/** Creates a webhook in steps. With an API in the URL, the event types of APIs are selected at the beginning. */
export function NewWebhookPage() {
  // The router also passes on what the route has left out.
  const { api: id = '' } = readNewWebhookSearch({ ...route.useSearch() })
  const types = useQuery(eventTypesQuery)
  const api = useQuery({
    queryKey: ['apis', 'one', id, 'body'],
    enabled: id !== '',
    queryFn: ({ signal }) => answer(client.getApi({ api_id: id }, { signal })),
  })
  const failed = [types, api].find(({ isError }) => isError)
  const ready = types.data && (id === '' || api.data)
  return (
    <Stack maw={820}>
      <Trail to="/webhooks" label="Webhooks" page="Create webhook" />
      <Title order={1} size="h2">
        Create webhook
      </Title>
      {failed && (
        <ProblemPanel
          what="The creation cannot begin"
          error={failed.error}
          onRetry={() => Promise.all([types.refetch(), id !== '' && api.refetch()])}
        />
      )}
      {!failed && !ready && <Loading what="the event types" />}
      {ready && <Creation api={api.data} types={types.data} />}
    </Stack>
  )
}
