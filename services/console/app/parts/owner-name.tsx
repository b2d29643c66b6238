import { Code, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answer, client } from '../http/client.ts'
import { useAllowed, useSession } from '../http/session.ts'

/** The name of a user; the id for a session that may not read users. */
export function OwnerName({ id }: { id: string | null }) {
  const own = useSession()?.user
  const mayRead = useAllowed('USER_READ')
  const user = useQuery({
    queryKey: ['users', 'name', id],
    enabled: mayRead && id !== null && id !== own?.id,
    queryFn: ({ signal }) => answer(client.getUser({ user_id: id ?? '' }, { signal })),
  })
  if (id === null)
    return (
      <Text span inherit>
        Unknown
      </Text>
    )
  if (id === own?.id)
    return (
      <Text span inherit>
        {own.displayName} (you)
      </Text>
    )
  return user.data ? (
    <Text span inherit>
      {user.data.displayName}
    </Text>
  ) : (
    <Text span inherit title={id}>
      {mayRead ? <Code>{id}</Code> : 'Another user'}
    </Text>
  )
}
