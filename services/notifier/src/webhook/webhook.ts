import type { WebhookRecord } from '@gantry/contracts'

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
  /** The old secret verifies until then. */
  | { type: 'WebhookSecretRotated'; data: { secret: string; oldSecretUntil: string } }
  /** By the service itself, which says why. */
  | { type: 'WebhookDisabled'; data: { reason: string; disabledAt: string } }
  | { type: 'WebhookDeleted'; data: { deletedAt: string } }

export interface SealedSecret {
  sealed: string
  /** ISO 8601; null for the one that is there to stay. */
  until: string | null
}

export interface LiveWebhook {
  status: 'Live'
  record: WebhookRecord
  /** Of the event that changed the record last: its ETag. */
  recordRevision: number
  /** The newest first. */
  secrets: readonly SealedSecret[]
}

export type WebhookState = { status: 'Absent' } | LiveWebhook | { status: 'Deleted'; last: WebhookRecord }

export const initialWebhook: WebhookState = { status: 'Absent' }

/** Secrets that sign besides the newest: a header has room for so many, however often someone rotates in a day. */
const OLD_SECRETS = 10

export function evolveWebhook(state: WebhookState, event: WebhookEvent, revision: number): WebhookState {
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
      },
      recordRevision: revision,
      secrets: [{ sealed: secret, until: null }],
    }
  }
  if (state.status !== 'Live') return state
  const { record } = state

  switch (event.type) {
    case 'WebhookUpdated': {
      const disabledReason = event.data.active ? null : record.disabledReason
      return { ...state, record: { ...record, ...event.data, disabledReason }, recordRevision: revision }
    }
    case 'WebhookSecretRotated': {
      const { secret, oldSecretUntil } = event.data
      const old = state.secrets.map(({ sealed, until }) => ({ sealed, until: until ?? oldSecretUntil }))
      return { ...state, secrets: [{ sealed: secret, until: null }, ...old.slice(0, OLD_SECRETS)] }
    }
    case 'WebhookDisabled': {
      const { reason, disabledAt } = event.data
      const disabled = { active: false, disabledReason: reason, updatedAt: disabledAt }
      return { ...state, record: { ...record, ...disabled }, recordRevision: revision }
    }
    case 'WebhookDeleted':
      return { status: 'Deleted', last: record }
    default: {
      const missing: never = event
      return missing
    }
  }
}
