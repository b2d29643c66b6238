import { useMutation } from '@tanstack/react-query'
import { answer, client, tagged } from '../http/client.ts'
import { queries } from '../http/queries.ts'
import type { Schemas } from '../http/schemas.ts'
import { useIdempotencyKey } from '../parts/idempotency.ts'
import { webhookQuery } from './webhook-queries.ts'

/** Reads everything about webhooks again, because it may have changed. */
export const readAgain = () => queries.invalidateQueries({ queryKey: ['webhooks'] })

/** Saves a webhook unless it has changed since it was read. @param etag of the state that was read */
export const put = (webhookId: string, update: Schemas['WebhookUpdate'], etag: string) => {
  return tagged(client.updateWebhook({ webhook_id: webhookId, body: update }, { ifMatch: etag }))
}

/** Deletes a webhook unless it has changed since it was read. */
export const useDeletion = (webhookId: string) =>
  useMutation({
    mutationFn: (etag: string) => {
      return answer(client.deleteWebhook({ webhook_id: webhookId }, { ifMatch: etag }))
    },
  })

/** Makes a new secret. Repeating it after a lost response does not make another one. */
export function useRotation(webhookId: string) {
  const keys = useIdempotencyKey()
  return useMutation({
    mutationFn: () => {
      return answer(
        client.rotateWebhookSecret({ webhook_id: webhookId }, { idempotencyKey: keys.for(webhookId) }),
      )
    },
    // The answer has the secret, which is not kept in the cache.
    gcTime: 0,
    onSuccess: () => {
      keys.done()
      return readAgain()
    },
  })
}

/** The present state of a webhook, read now. */
export const readNow = (webhookId: string) => queries.fetchQuery({ ...webhookQuery(webhookId), staleTime: 0 })
