import { ApiName } from '../parts/api-name.tsx'
import { OwnerName } from '../parts/owner-name.tsx'
import { WebhookName } from '../parts/webhook-name.tsx'
import type { FeedEvent } from './buffer.ts'
import { apiOf, nameIn, webhookOf } from './describe.ts'

/** The name of the resource of an event after that of its API, as far as its data have them; else the id. */
export function Subject({ event }: { event: FeedEvent }) {
  const api = apiOf(event)
  const name = nameIn(event)
  if (event.type.startsWith('USER_')) return name ?? <OwnerName id={event.subject} />
  const webhook = webhookOf(event)
  if (webhook && !api) return name ?? <WebhookName id={webhook} />
  // Of what belongs to an API, the data have the id of the API alone.
  if (typeof event.data.api !== 'string' || !api) return name ?? (api ? <ApiName id={api} /> : event.subject)
  return (
    <>
      <ApiName id={api} /> {name}
    </>
  )
}
