import { Alert, Stack, Text } from '@mantine/core'
import type { Schemas } from '../http/schemas.ts'
import { CopyField } from '../parts/copy.tsx'

/** The secret of a response, which no other response has. */
export function SecretPanel({ webhook }: { webhook: Schemas['NewWebhook'] }) {
  if (webhook.secret === null)
    return (
      <Alert color="yellow" title="The secret cannot be shown again">
        The response to this request was sent before, to another login or access token. Rotate the secret to
        get a new one.
      </Alert>
    )
  return (
    <Stack gap={4}>
      <CopyField label="Signing secret" value={webhook.secret} />
      <Text size="sm">
        Store it in the receiver now. It is shown only once; a lost secret can be rotated.
      </Text>
    </Stack>
  )
}
