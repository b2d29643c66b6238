import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { AnchorLink } from '../../parts/links.tsx'
import { webhookOfQuery } from './delivery-queries.ts'

/** A link to a webhook with its name. */
export function WebhookLink({ id }: { id: string }) {
  const webhook = useQuery(webhookOfQuery(id))
  if (webhook.data === null)
    return (
      <Text span inherit>
        Deleted webhook
      </Text>
    )
  return (
    <AnchorLink
      to="/webhooks/$webhookId"
      params={{ webhookId: id }}
      inherit
      style={{ overflowWrap: 'anywhere' }}
    >
      {webhook.data?.displayName ?? (webhook.isPending ? '…' : id)}
    </AnchorLink>
  )
}
