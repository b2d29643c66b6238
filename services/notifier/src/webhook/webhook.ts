import { mayReadEvent, type Principal, type RecordedWebhook, type WebhookFormat } from '@gantry/contracts'
import type { Actor, EventSchemas } from '@gantry/event-sourcing'

interface Fields {
  name: string
  displayName: string
  url: string
  active: boolean
  eventTypes: string[]
  ordered: boolean
  format: WebhookFormat
}

export type WebhookEvent =
  /** `secret` is encrypted. */
  | { type: 'WebhookCreated'; data: Fields & { id: string; secret: string; createdAt: string } }
  | { type: 'WebhookUpdated'; data: Fields & { updatedAt: string } }
  /** An administrator gave the webhook another owner. */
  | { type: 'WebhookTransferred'; data: { owner: string; transferredAt: string } }
  /** The old secret also signs until `oldSecretUntil`. */
  | { type: 'WebhookSecretRotated'; data: { secret: string; oldSecretUntil: string } }
  /** The same secrets, sealed with another key of ENCRYPTION_KEY. Expired ones are left out. */
  | { type: 'WebhookSecretsResealed'; data: { secrets: SealedSecret[] } }
  /** The first failure of a delivery since the webhook started to fail. */
  | { type: 'WebhookDeliveryFailed'; data: { delivery: string; at: string } }
  /** A warning for the owner: the webhook will be disabled if it keeps failing. */
  | { type: 'WebhookFailing'; data: { since: string; deliveries: number; warning: number; at: string } }
  /** A delivery succeeded after others had failed. */
  | { type: 'WebhookSucceeded'; data: { at: string } }
  /** The service itself made the webhook inactive. */
  | { type: 'WebhookDisabled'; data: { reason: string; disabledAt: string } }
  | { type: 'WebhookDeleted'; data: { deletedAt: string } }

export interface SealedSecret {
  sealed: string
  /** When the secret stops signing, ISO 8601; null for the current secret. */
  until: string | null
}

/** The failures of a webhook since its last successful delivery. */
export interface Failing {
  since: string
  /** Ids of the failed deliveries, at most as many as disabling requires. */
  deliveries: readonly string[]
  /** Number of warnings so far. */
  warnings: number
  warnedAt: string | null
}

export interface LiveWebhook {
  status: 'Live'
  record: RecordedWebhook
  /** Revision of the last event that changed the record: its ETag. */
  recordRevision: number
  /** Newest first. */
  secrets: readonly SealedSecret[]
  /** Null while no delivery fails, and after the webhook was disabled. */
  failing: Failing | null
  /** When a delivery last succeeded after others had failed at this URL; null when none has. */
  succeededAt: string | null
}

export type WebhookState = { status: 'Absent' } | LiveWebhook | { status: 'Deleted'; last: RecordedWebhook }

/** Every event type that this release knows, with its upcasters. */
export const webhookEvents: EventSchemas<WebhookEvent> = {
  WebhookCreated: [],
  WebhookUpdated: [],
  WebhookTransferred: [],
  WebhookSecretRotated: [],
  WebhookSecretsResealed: [],
  WebhookDeliveryFailed: [],
  WebhookFailing: [],
  WebhookSucceeded: [],
  WebhookDisabled: [],
  WebhookDeleted: [],
}

export const initialWebhook: WebhookState = { status: 'Absent' }

/** Maximum number of old secrets that sign beside the current one, because the size of the header is limited. */
const OLD_SECRETS = 10

/** The owner of a webhook is the user who created it, until it is transferred. */
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
      // A webhook that becomes active again, or gets another URL, starts without failures.
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
    case 'WebhookSecretsResealed':
      return { ...state, secrets: event.data.secrets }
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

/** The URL of a webhook as a caller sees it: whole for a caller who may read all of these event types. */
export const shownUrl = (
  url: string,
  { scopes }: Pick<Principal, 'scopes'>,
  eventTypes: readonly string[],
): string => (eventTypes.every(type => mayReadEvent(scopes, type)) ? url : withoutSecrets(url))

/** The URL of a webhook without query and user, which may be secrets between sender and receiver. */
export function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
