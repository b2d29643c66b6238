import { queryOptions } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'

/** The event types with their descriptions. They change with the release only. */
export const schemasOfEvents = queryOptions({
  queryKey: ['events', 'schemas'],
  queryFn: ({ signal }) => answer(client.listEventSchemas({}, { signal })),
  staleTime: Number.POSITIVE_INFINITY,
})
