import { Title } from '@mantine/core'

/** The webhooks with their health. */
export function WebhooksPage() {
  return (
    <Title order={1} size="h2">
      Webhooks
    </Title>
  )
}
