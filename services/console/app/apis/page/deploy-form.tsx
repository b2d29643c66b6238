import { Button, Group, Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answer, client } from '../../http/client.ts'
import type { Schemas } from '../../http/schemas.ts'
import { useAllowed } from '../../http/session.ts'
import { NewEnvironmentDialog } from '../../parts/environment-dialog.tsx'
import { ProblemPanel } from '../../parts/problem-panel.tsx'
import { ReferencePicker } from '../../parts/reference-picker.tsx'
import { readAgain } from './reads.ts'

/** Starts a deployment job of an API to the environment with an id. */
export function useDeploy(api: string, onStarted = () => {}) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: (environment: string) =>
      answer(client.deployApi({ environment_id: environment, api_id: api })),
    async onSuccess() {
      onStarted()
      await readAgain(queries, api)
    },
  })
}

/** Deploys to an environment: a known one by its name, a new one, or any by its id. */
export function DeployForm({ api }: { api: Schemas['Api'] }) {
  const [environment, setEnvironment] = useState<string>()
  const [creating, setCreating] = useState(false)
  const mayCreate = useAllowed('ENVIRONMENT_WRITE')
  const deploy = useDeploy(api.id, () => setEnvironment(undefined))
  return (
    <>
      <form
        onSubmit={event => {
          event.preventDefault()
          if (environment) deploy.mutate(environment)
        }}
      >
        <Stack gap="xs">
          <Group align="end">
            <ReferencePicker
              kind="environment"
              label="Environment"
              description="Its name or its id (UUID)"
              value={environment}
              onChange={setEnvironment}
            />
            <Button type="submit" loading={deploy.isPending} disabled={!environment}>
              Deploy
            </Button>
            {mayCreate && (
              <Button variant="default" onClick={() => setCreating(true)}>
                New environment
              </Button>
            )}
          </Group>
          {deploy.isError && <ProblemPanel what="The deployment is not started" error={deploy.error} />}
        </Stack>
      </form>
      {/* Outside of the form, which would get the dialog's submit event. */}
      {creating && <NewEnvironmentDialog onCreated={setEnvironment} onClose={() => setCreating(false)} />}
    </>
  )
}
