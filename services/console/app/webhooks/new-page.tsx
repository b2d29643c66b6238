import { Title } from '@mantine/core'

/** Creates a webhook in steps. */
export function NewWebhookPage() {
  return (
    <Title order={1} size="h2">
      New webhook
    </Title>
  )
}
