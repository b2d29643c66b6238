import { Button, Group, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { useAllowed } from '../../http/session.ts'
import { NewEnvironmentDialog } from '../../parts/environment-dialog.tsx'
import { ReferencePicker } from '../../parts/reference-picker.tsx'

interface DeployFormProps {
  environment: string | undefined
  onChange: (environment: string | undefined) => void
  onSubmit: (environment: string) => void
}

/** Chooses the environment to deploy to: a known one by its name, a new one, or any by its id. */
export function DeployForm({ environment, onChange, onSubmit }: DeployFormProps) {
  const [creating, setCreating] = useState(false)
  const mayCreate = useAllowed('ENVIRONMENT_WRITE')
  return (
    <>
      <form
        onSubmit={event => {
          event.preventDefault()
          if (environment) onSubmit(environment)
        }}
      >
        <Stack gap="xs">
          <Text size="sm">
            Deployments have no version: the API is deployed as it is now, with all its versions.
          </Text>
          <Group align="end">
            <ReferencePicker
              kind="environment"
              label="Environment"
              description="Its name or its id (UUID)"
              value={environment}
              onChange={onChange}
            />
            <Button type="submit" disabled={!environment}>
              Deploy
            </Button>
            {mayCreate && (
              <Button variant="default" onClick={() => setCreating(true)}>
                New environment
              </Button>
            )}
          </Group>
        </Stack>
      </form>
      {/* Outside of the form, which would get the dialog's submit event. */}
      {creating && <NewEnvironmentDialog onCreated={onChange} onClose={() => setCreating(false)} />}
    </>
  )
}
