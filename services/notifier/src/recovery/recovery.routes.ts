import {
  cancelRecovery,
  getRecovery,
  listRecoveries,
  type RecoveryRecord,
  Refusal,
  recoverWebhook,
  subjects,
} from '@gantry/contracts'
import type { Bus } from '@gantry/messaging'
import { type AddRoute, listing, page } from '@gantry/service-runtime'
import type { Deliveries } from '../delivery/deliveries.ts'
import { requireReadScopes } from '../read-scopes.ts'
import type { Webhooks } from '../webhook/webhooks.ts'
import { endOf, sequenceBeforeEvents } from './bus-position.ts'
import { planOf } from './recovery.events.ts'
import { type Recoveries, recordOf, recoveryRecord } from './recovery.projection.ts'
import type { RecoveryState } from './recovery.ts'

export interface RecoveryRoutes {
  recoveries: Recoveries
  webhooks: Webhooks
  deliveries: Deliveries
  bus: Bus
}

export function recoveryRoutes(route: AddRoute, options: RecoveryRoutes): void {
  const { recoveries, webhooks, deliveries, bus } = options

  route(recoverWebhook, async ({ params, query, body, creationMetadata: metadata, principal, newId }) => {
    const webhook = await webhooks.existing(params.webhook_id)
    requireReadScopes(principal, webhook.eventTypes)
    // An inactive webhook skips new events, which the recovery would not cover.
    if (!webhook.active) throw new Refusal('webhook-inactive', { detail: 'the webhook must be active' })
    const id = newId()
    const after = await sequenceBeforeEvents(bus, body.from)
    const last = await bus.last([subjects.allEvents])
    const range = { after, through: last?.sequence ?? 0, end: last ? endOf(last) : null }
    const asked = { id, webhook: webhook.id, ...body, ...range }
    const command = { type: 'RequestRecovery' as const, metadata, ...asked }
    if (query.dryRun) {
      const would = current(recoveries.requested(command))
      const { signal } = new AbortController()
      return { status: 200, body: await planOf(would, webhook, { deliveries, bus, signal }) }
    }
    const { state } = await recoveries.execute(id, command)
    return {
      status: 202,
      body: recordOf(current(state)),
      location: `/webhooks/${webhook.id}/recoveries/${id}`,
    }
  })

  route(listRecoveries, async ({ params, query }) => {
    const { id } = await webhooks.existing(params.webhook_id)
    const { items, total } = await recoveries.documents.find(listing(query, { webhook: id }))
    const content = items.map(({ doc }) => recoveryRecord(doc))
    return { status: 200, body: page(content, total, query) }
  })

  route(getRecovery, async ({ params }) => ({ status: 200, body: await ofWebhook(params) }))

  route(cancelRecovery, async ({ params, metadata, principal }) => {
    const { eventTypes } = await webhooks.existing(params.webhook_id)
    requireReadScopes(principal, eventTypes)
    const { id } = await ofWebhook(params)
    const { state } = await recoveries.execute(id, { type: 'CancelRecovery', metadata })
    return { status: 200, body: recordOf(current(state)) }
  })

  const ofWebhook = async (params: { webhook_id: string; recovery_id: string }): Promise<RecoveryRecord> => {
    const { id } = await webhooks.existing(params.webhook_id)
    const stored = await recoveries.documents.get(params.recovery_id)
    if (stored?.doc.webhook !== id) throw new Refusal('recovery-not-found')
    return recoveryRecord(stored.doc)
  }

  const current = (state: RecoveryState) => {
    if (state.status === 'Absent') throw new Refusal('recovery-not-found')
    return state
  }
}
