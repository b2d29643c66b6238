import {
  cancelRecovery,
  getRecovery,
  listRecoveries,
  type RecoveryRecord,
  Refusal,
  recoverWebhook,
} from '@gantry/contracts'
import type { Aggregate } from '@gantry/event-sourcing'
import type { Bus } from '@gantry/messaging'
import type { Collection } from '@gantry/read-models'
import { type AddRoute, listing, page } from '@gantry/service-kit'
import { requireReadScopes } from '../read-scopes.ts'
import type { WebhookDocument } from '../webhook/webhook.projection.ts'
import { sequenceBefore } from './bus-position.ts'
import type { RecoveryCommand } from './recovery.decide.ts'
import { type RecoveryDocument, recordOf, recoveryRecord } from './recovery.projection.ts'
import type { RecoveryEvent, RecoveryState } from './recovery.ts'

export interface RecoveryRoutes {
  recovery: Aggregate<RecoveryState, RecoveryCommand, RecoveryEvent>
  recoveries: Collection<RecoveryDocument>
  webhooks: Collection<WebhookDocument>
  bus: Bus
}

export function recoveryRoutes(route: AddRoute, options: RecoveryRoutes): void {
  const { recovery, recoveries, webhooks, bus } = options

  route(recoverWebhook, async ({ params, body, creationMetadata: metadata, principal, newId }) => {
    const webhook = await existing(params.webhook_id)
    requireReadScopes(principal, webhook.eventTypes)
    // An inactive webhook skips new events, which the recovery would not cover.
    if (!webhook.active) throw new Refusal('webhook-inactive', { detail: 'the webhook must be active' })
    const id = newId()
    const places = { after: await sequenceBefore(bus, body.from), through: await bus.head() }
    const command: RecoveryCommand = {
      type: 'RequestRecovery',
      metadata,
      id,
      webhook: webhook.id,
      ...body,
      ...places,
    }
    const { state } = await recovery.execute(id, command)
    return { ...answer(202, state), location: `/webhooks/${webhook.id}/recoveries/${id}` }
  })

  route(listRecoveries, async ({ params, query }) => {
    const { id } = await existing(params.webhook_id)
    const { items, total } = await recoveries.find(listing(query, { webhook: id }))
    return {
      status: 200,
      body: page(
        items.map(({ doc }) => recoveryRecord(doc)),
        total,
        query,
      ),
    }
  })

  route(getRecovery, async ({ params }) => ({ status: 200, body: await ofWebhook(params) }))

  route(cancelRecovery, async ({ params, metadata }) => {
    const { id } = await ofWebhook(params)
    const { state } = await recovery.execute(id, { type: 'CancelRecovery', metadata })
    return answer(200, state)
  })

  const existing = async (id: string): Promise<WebhookDocument> => {
    const stored = await webhooks.get(id)
    if (!stored) throw new Refusal('webhook-not-found')
    return stored.doc
  }

  const ofWebhook = async (params: { webhook_id: string; recovery_id: string }): Promise<RecoveryRecord> => {
    const { id } = await existing(params.webhook_id)
    const stored = await recoveries.get(params.recovery_id)
    if (stored?.doc.webhook !== id) throw new Refusal('recovery-not-found')
    return recoveryRecord(stored.doc)
  }

  const answer = (status: number, state: RecoveryState) => {
    if (state.status === 'Absent') throw new Refusal('recovery-not-found')
    return { status, body: recordOf(state) }
  }
}
