import { useQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { useAllowed, useSession } from '../http/session.ts'
import type { FeedEvent } from './buffer.ts'

/** The cause of an event: the username of a user, or the name of a part of the service. */
export function Actor({ actor: { id, name } }: { actor: FeedEvent['actor'] }) {
  const own = useSession()?.user
  const isOwn = own?.id === id
  const user = useQuery({
    queryKey: ['users', id, 'name'],
    queryFn: ({ signal }) => answer(client.getUser({ user_id: id ?? '' }, { signal })),
    enabled: useAllowed('USER_READ') && id !== null && !isOwn,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  if (id === null) return name
  return (isOwn ? own?.username : user.data?.username) ?? id
}
