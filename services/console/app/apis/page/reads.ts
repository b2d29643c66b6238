import { infiniteQueryOptions, type QueryClient, queryOptions } from '@tanstack/react-query'
import { answer, client, tagged } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'

const PAGE_SIZE = 100
const JOB_POLL_MS = 1_000

/** An API with its entity tag. While a deployment job runs it is read every second. */
export const apiQuery = (id: string) =>
  queryOptions({
    queryKey: ['api', id, 'now'],
    queryFn: ({ signal }) =>
      tagged(client.getApi({ api_id: id, includeDeployedOn: true, includeRunningJobs: true }, { signal })),
    refetchInterval: ({ state }) => (state.data?.body.runningJobs?.length ? JOB_POLL_MS : false),
  })

/** An API as it was at a time. The past does not change. */
export const pastApiQuery = (id: string, at: string) =>
  queryOptions({
    queryKey: ['api', id, 'at', at],
    queryFn: ({ signal }) => answer(client.getApi({ api_id: id, at, includeDeployedOn: true }, { signal })),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** What a failed deployment job was about, from its event. */
export const failureQuery = (id: string, { timestamp } = { timestamp: '' }) =>
  queryOptions({
    queryKey: ['api', id, 'failure', timestamp],
    async queryFn({ signal }) {
      const type = 'API_DEPLOYMENT_FAILED' as const
      const query = { api: id, type: [type], from: timestamp, size: 1 }
      const { content } = await answer(client.streamEvents(query, { signal }))
      const [event] = content
      return event && 'type' in event && event.type === type
        ? (event.data as Schemas['FailedDeployment'])
        : null
    },
    staleTime: Number.POSITIVE_INFINITY,
  })

/** The versions of an API at a time; without one those of the present, newest first. */
export const versionsQuery = (id: string, at?: string) =>
  infiniteQueryOptions({
    queryKey: ['api', id, 'versions', at ?? 'now'],
    queryFn: ({ signal, pageParam: page }) =>
      answer(
        client.listVersions(
          { api_id: id, page, size: PAGE_SIZE, ...(at ? { at } : { sort: ['createdAt,desc'] }) },
          { signal },
        ),
      ),
    initialPageParam: 1,
    getNextPageParam: ({ last, number }) => (last ? undefined : number + 1),
  })

/** The changes of an API with those of its versions, newest first. */
export const historyQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ['api', id, 'history'],
    queryFn: ({ signal, pageParam: page }) =>
      answer(client.getApiHistory({ api_id: id, page, size: PAGE_SIZE, includeVersions: true }, { signal })),
    initialPageParam: 1,
    getNextPageParam: ({ last, number }) => (last ? undefined : number + 1),
  })

/** The changes of a version, newest first. */
export const versionHistoryQuery = (api: string, version: string) =>
  infiniteQueryOptions({
    queryKey: ['api', api, 'version', version, 'history'],
    queryFn: ({ signal, pageParam: page }) =>
      answer(
        client.getVersionHistory({ api_id: api, version_id: version, page, size: PAGE_SIZE }, { signal }),
      ),
    initialPageParam: 1,
    getNextPageParam: ({ last, number }) => (last ? undefined : number + 1),
  })

/** Reads everything again that a change of an API affects. */
export const readAgain = (queries: QueryClient, id: string) =>
  Promise.all([
    queries.invalidateQueries({ queryKey: ['api', id] }),
    queries.invalidateQueries({ queryKey: ['apis'] }),
  ])
