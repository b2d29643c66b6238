import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { answer, client } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'

export type Recovery = Schemas['Recovery']

const PAGE_SIZE = 10
const PROGRESS_MS = 500

/** A page of the recoveries of a webhook, the latest first. It is read again while one of them runs. */
export const recoveriesQuery = (webhookId: string, page: number) =>
  queryOptions({
    queryKey: ['recoveries', webhookId, page],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      answer(client.listRecoveries({ webhook_id: webhookId, page, size: PAGE_SIZE }, { signal })),
    refetchInterval: ({ state }) =>
      state.data?.content.some(({ status }) => status === 'RUNNING') ? PROGRESS_MS : false,
  })
