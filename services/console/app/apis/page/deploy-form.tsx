import { Autocomplete, Button, Group, Stack } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { isUuid } from '../../parts/uuid.ts'
import { readAgain } from './reads.ts'

/** Starts a deployment job of an API to the environment with an id. */
export function useDeploy(api: string, onStarted = () => {}) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (environment: string) =>
      answer(
        client.PUT('/environments/{environment_id}/apis/{api_id}', {
          params: { path: { environment_id: environment, api_id: api } },
        }),
      ),
    async onSuccess() {
      onStarted()
      await readAgain(queries, api)
    },
  })
}

/** Deploys to an environment by its id. The environments of all APIs are proposed. */
export function DeployForm({ api }: { api: Schemas['Api'] }) {
  const [environment, setEnvironment] = useState('')
  const [refused, setRefused] = useState<string>()
  const id = environment.trim()
  const deploy = useDeploy(api.id, () => setEnvironment(''))
  const known = useQuery({
    queryKey: ['apis', 'facets', 'all'],
    queryFn: ({ signal }) => answer(client.GET('/apis/facets', { signal })),
    staleTime: 60_000,
  })
  return (
    <form
      noValidate
      onSubmit={event => {
        event.preventDefault()
        // The id is a part of the path, and the service knows no other paths.
        if (isUuid(id)) deploy.mutate(id)
        else setRefused(id)
      }}
    >
      <Stack gap="xs">
        <Group align="end">
          <Autocomplete
            label="Environment"
            description="Id of the environment (UUID)"
            data={known.data?.environment.map(({ value }) => value) ?? []}
            value={environment}
            onChange={setEnvironment}
            error={refused === id && id !== '' && 'must be a UUID'}
            w={400}
            maw="100%"
          />
          <Button type="submit" loading={deploy.isPending} disabled={id === ''}>
            Deploy
          </Button>
        </Group>
        {deploy.isError && <ProblemPanel what="The deployment is not started" error={deploy.error} />}
      </Stack>
    </form>
  )
}
