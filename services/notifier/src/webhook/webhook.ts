import type { WebhookRecord } from '@gantry/contracts'
import type { Actor, EventSchemas } from '@gantry/event-sourcing'

interface Fields {
  name: string
  displayName: string
  url: string
  active: boolean
  eventTypes: string[]
  /** Left out in what was recorded before there was a choice. */
  ordered?: boolean
}

export type WebhookEvent =
  /** `secret` is sealed. */
  | { type: 'WebhookCreated'; data: Fields & { id: string; secret: string; createdAt: string } }
  | { type: 'WebhookUpdated'; data: Fields & { updatedAt: string } }
  /** By an administrator: the webhook has another owner from now on. */
  | { type: 'WebhookTransferred'; data: { owner: string; transferredAt: string } }
  /** The old secret verifies until then. */
  | { type: 'WebhookSecretRotated'; data: { secret: string; oldSecretUntil: string } }
  /** A delivery that had not failed before, since the webhook began to fail. */
  | { type: 'WebhookDeliveryFailed'; data: { delivery: string; at: string } }
  /** For the owner: it goes on so, and the webhook will be disabled. */
  | { type: 'WebhookFailing'; data: { since: string; deliveries: number; warning: number; at: string } }
  /** A delivery has arrived after others had failed. */
  | { type: 'WebhookSucceeded'; data: { at: string } }
  /** By the service itself, which says why. */
  | { type: 'WebhookDisabled'; data: { reason: string; disabledAt: string } }
  | { type: 'WebhookDeleted'; data: { deletedAt: string } }

export interface SealedSecret {
  sealed: string
  /** ISO 8601; null for the one that is there to stay. */
  until: string | null
}

/** What is held against a webhook at which nothing has arrived since. */
export interface Failing {
  since: string
  /** Ids of those that failed; not more than are enough to disable the webhook. */
  deliveries: readonly string[]
  /** Warnings so far. */
  warnings: number
  warnedAt: string | null
}

export interface LiveWebhook {
  status: 'Live'
  record: WebhookRecord
  /** Of the event that changed the record last: its ETag. */
  recordRevision: number
  /** The newest first. */
  secrets: readonly SealedSecret[]
  /** Null while deliveries arrive, and while it is not called. */
  failing: Failing | null
  /** When a delivery arrived last after others had failed, at this url; null when that never was. */
  succeededAt: string | null
}

export type WebhookState = { status: 'Absent' } | LiveWebhook | { status: 'Deleted'; last: WebhookRecord }

/** Every event type that this release knows, with its upcasters. */
export const webhookEvents: EventSchemas<WebhookEvent> = {
  WebhookCreated: [],
  WebhookUpdated: [],
  WebhookTransferred: [],
  WebhookSecretRotated: [],
  WebhookDeliveryFailed: [],
  WebhookFailing: [],
  WebhookSucceeded: [],
  WebhookDisabled: [],
  WebhookDeleted: [],
}

export const initialWebhook: WebhookState = { status: 'Absent' }

/** Secrets that sign besides the newest: a header has room for so many, however often someone rotates in a day. */
const OLD_SECRETS = 10

/** The owner of a webhook is the one who created it, until it is transferred. */
export function evolveWebhook(
  state: WebhookState,
  event: WebhookEvent,
  revision: number,
  actor: Actor,
): WebhookState {
  if (event.type === 'WebhookCreated') {
    const { secret, createdAt, ...fields } = event.data
    return {
      status: 'Live',
      record: {
        ...fields,
        ordered: fields.ordered ?? false,
        createdAt,
        updatedAt: createdAt,
        disabledReason: null,
        owner: actor.id,
      },
      recordRevision: revision,
      secrets: [{ sealed: secret, until: null }],
      failing: null,
      succeededAt: null,
    }
  }
  if (state.status !== 'Live') return state
  const { record } = state

  switch (event.type) {
    case 'WebhookUpdated': {
      const disabledReason = event.data.active ? null : record.disabledReason
      const updated = { ...record, ...event.data, disabledReason }
      // Made active again, or led elsewhere, it begins with a clean slate.
      const same = record.active && updated.active && record.url === updated.url
      const judged = same ? {} : { failing: null, succeededAt: null }
      return { ...state, ...judged, record: updated, recordRevision: revision }
    }
    case 'WebhookTransferred': {
      const { owner, transferredAt: updatedAt } = event.data
      return { ...state, record: { ...record, owner, updatedAt }, recordRevision: revision }
    }
    case 'WebhookDeliveryFailed': {
      const { delivery, at } = event.data
      const failing = state.failing ?? beginsToFail(at)
      return { ...state, failing: { ...failing, deliveries: [...failing.deliveries, delivery] } }
    }
    case 'WebhookFailing': {
      const { warning, at } = event.data
      return { ...state, failing: state.failing && { ...state.failing, warnings: warning, warnedAt: at } }
    }
    case 'WebhookSucceeded':
      return { ...state, failing: null, succeededAt: event.data.at }
    case 'WebhookSecretRotated': {
      const { secret, oldSecretUntil } = event.data
      const old = state.secrets.map(({ sealed, until }) => ({ sealed, until: until ?? oldSecretUntil }))
      return { ...state, secrets: [{ sealed: secret, until: null }, ...old.slice(0, OLD_SECRETS)] }
    }
    case 'WebhookDisabled': {
      const { reason, disabledAt } = event.data
      const disabled = { active: false, disabledReason: reason, updatedAt: disabledAt }
      return { ...state, record: { ...record, ...disabled }, recordRevision: revision, failing: null }
    }
    case 'WebhookDeleted':
      return { status: 'Deleted', last: record }
    default:
      event satisfies never
      return state
  }
}

export const beginsToFail = (since: string): Failing => ({
  since,
  deliveries: [],
  warnings: 0,
  warnedAt: null,
})
