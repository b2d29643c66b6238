import { Autocomplete, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { answer, client } from '../../http/client.ts'
import { session } from '../../http/session.ts'

interface CredentialFieldProps {
  label: string
  /** Id of the credential; empty for none. */
  value: string
  error: string | undefined
  onChange: (id: string) => void
}

/** The credentials of the person's own APIs, each with the names of those APIs. */
function useCredentials(): ReadonlyMap<string, string[]> {
  const owner = session.current()?.user.id ?? ''
  const { data } = useQuery({
    queryKey: ['apis', 'credentials', owner],
    queryFn: ({ signal }) => answer(client.listApis({ owner, size: 100 }, { signal })),
    staleTime: 60_000,
  })
  const found = new Map<string, string[]>()
  for (const { gitCredential, displayName } of data?.content ?? [])
    if (gitCredential) found.set(gitCredential, [...(found.get(gitCredential) ?? []), displayName])
  return found
}

/** The Git credential of an API: an id, since the service does not list credentials. */
export function CredentialField(input: CredentialFieldProps) {
  const credentials = useCredentials()
  return (
    <Autocomplete
      {...input}
      data={[...credentials.keys()]}
      description="Id (UUID) from the platform that stores the credential. Those of your APIs are suggested"
      renderOption={({ option: { value } }) => (
        <div>
          <Text size="sm">{value}</Text>
          <Text size="xs">{credentials.get(value)?.join(', ')}</Text>
        </div>
      )}
    />
  )
}
