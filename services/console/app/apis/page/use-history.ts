import { useInfiniteQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import type { Schemas } from '../../http/schemas.ts'
import { historyQuery } from './reads.ts'

/** The latest changes of an API, newest first. They are read again when the API has changed. */
export function useHistory({ id, updatedAt }: Schemas['Api']): Schemas['HistoryEntry'][] {
  const { data, refetch } = useInfiniteQuery(historyQuery(id))
  const seen = useRef(updatedAt)
  useEffect(() => {
    if (seen.current === updatedAt) return
    seen.current = updatedAt
    void refetch()
  }, [updatedAt, refetch])
  return data?.pages.flatMap(({ content }) => content) ?? []
}
