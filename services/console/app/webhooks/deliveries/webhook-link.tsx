import { useQuery } from '@tanstack/react-query'
import { deletedWebhookQuery } from '../../parts/all-webhooks.ts'
import { AnchorLink } from '../../parts/links.tsx'
import { webhookOfQuery } from './delivery-queries.ts'

/** A link to a webhook with its name. */
export function WebhookLink({ id }: { id: string }) {
  const webhook = useQuery(webhookOfQuery(id))
  const deleted = useQuery({ ...deletedWebhookQuery(id), enabled: webhook.data === null })
  if (webhook.data === null)
    return (
      <AnchorLink
        to="/webhooks/$webhookId"
        params={{ webhookId: id }}
        inherit
        style={{ overflowWrap: 'anywhere' }}
      >
        {deleted.data?.displayName ?? id} (deleted)
      </AnchorLink>
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
