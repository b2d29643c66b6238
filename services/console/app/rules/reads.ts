import { queryOptions } from '@tanstack/react-query'
import { answer, client, tagged } from '../http/client.ts'

const PROGRESS_MS = 2_000
/** More than there can be. */
const SIZE = 100

/** All rule sets; read again while one of them is being applied. */
export const ruleSetsQuery = queryOptions({
  queryKey: ['rule sets'],
  queryFn: ({ signal }) => answer(client.GET('/ruleSets', { params: { query: { size: SIZE } }, signal })),
  refetchInterval: ({ state: { data } }) =>
    data?.content.some(({ progress }) => progress && progress.linted < progress.total) ? PROGRESS_MS : false,
})

export const ruleSetQuery = (id: string) =>
  queryOptions({
    queryKey: ['rule sets', id],
    queryFn: ({ signal }) =>
      tagged(client.GET('/ruleSets/{rule_set_id}', { params: { path: { rule_set_id: id } }, signal })),
  })
