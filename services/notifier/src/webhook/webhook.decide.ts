import { isDeepStrictEqual } from 'node:util'
import {
  ADMINISTRATOR_ROLES,
  type Change,
  EVENT_TYPES,
  invalidField,
  isEventType,
  type Principal,
  Refusal,
  type WebhookInput,
  type WebhookUpdate,
} from '@gantry/contracts'
import { type CommandMetadata, type Conditional, type Decider, requireRevision } from '@gantry/event-sourcing'
import { type Cidr, refusedHost } from '../http/address.ts'
import { neededFor, requireReadScopes } from '../read-scopes.ts'
import { type Standing, unreadTypes } from '../user/standing.ts'
import { failed } from './failing.ts'
import {
  evolveWebhook,
  initialWebhook,
  type LiveWebhook,
  type WebhookEvent,
  type WebhookState,
  webhookEvents,
  withoutSecrets,
} from './webhook.ts'

/** The caller of a webhook command: its role, and the scopes that its credential has. */
type Manager = Pick<Principal, 'role' | 'scopes'>

type UpdateWebhook = {
  type: 'UpdateWebhook'
  by: Manager
  input: WebhookUpdate
  /**
   * At most two event types of pending deliveries: one that the caller may not read, and one that the owner may not read.
   */
  pending: readonly string[]
  /** Role and status of the owner after the update; left out if they are unknown. */
  standing?: Standing | undefined
  /** Number of webhooks that the owner of the input has. */
  owned?: number
} & Conditional

export type WebhookCommand =
  | {
      type: 'CreateWebhook'
      metadata: CommandMetadata
      by: Manager
      id: string
      input: WebhookInput
      sealedSecret: string
      /** Number of webhooks that the caller owns. */
      owned: number
    }
  | UpdateWebhook
  | ({ type: 'DeleteWebhook'; by: Manager } & Conditional)
  | { type: 'RotateSecret'; metadata: CommandMetadata; by: Manager; sealedSecret: string }
  /** The values that are sealed again, by the stored ones. */
  | { type: 'ResealSecrets'; metadata: CommandMetadata; renewed: ReadonlyMap<string, string> }
  /** An attempt failed through the fault of the receiver. */
  | { type: 'RecordFailure'; metadata: CommandMetadata; url: string; delivery: string }
  /** An attempt succeeded. */
  | { type: 'RecordSuccess'; metadata: CommandMetadata; url: string }
  /** Role and status of the owner. Ignored if the webhook has another owner by now. */
  | { type: 'CheckOwner'; metadata: CommandMetadata; standing: Standing }
  /** Ignored if the webhook has another URL by now. */
  | { type: 'DisableWebhook'; metadata: CommandMetadata; url: string; reason: string }

/** Commands that the service issues by itself. They may arrive after the webhook was deleted, and then do nothing. */
const BY_ITSELF: ReadonlySet<string> = new Set<WebhookCommand['type']>([
  'RecordFailure',
  'RecordSuccess',
  'CheckOwner',
  'DisableWebhook',
  'ResealSecrets',
])

/** Reason for disabling a webhook whose owner may not read one of its event types. */
const OWNER_LACKS_SCOPE = 'owner-lacks-scope'
/** How long the old secret still signs after a rotation. */
const OVERLAP_MS = 24 * 3_600_000

/**
 * @param allowed private networks that webhooks may reach
 * @param mostPerOwner maximum number of webhooks of an owner; 0 for no limit
 */
export const webhookDecider = (
  allowed: readonly Cidr[],
  mostPerOwner = 0,
): Decider<WebhookState, WebhookCommand, WebhookEvent> => ({
  initial: initialWebhook,
  events: webhookEvents,
  evolve: evolveWebhook,
  describe,
  decide(state, command) {
    const { now } = command.metadata
    if (command.type === 'CreateWebhook') {
      if (state.status !== 'Absent') throw new Refusal('write-conflict')
      const { by, id, input, sealedSecret, owned } = command
      known(input.eventTypes)
      requireReadScopes(by, input.eventTypes)
      reachable(input.url, allowed)
      requireFewer(owned, mostPerOwner)
      const name = input.name ?? slug(input.displayName)
      return [
        {
          type: 'WebhookCreated',
          data: {
            id,
            ...input,
            name,
            ordered: input.ordered ?? false,
            format: input.format ?? 'STANDARD',
            secret: sealedSecret,
            createdAt: now,
          },
        },
      ]
    }
    if (state.status !== 'Live') {
      if (BY_ITSELF.has(command.type)) return []
      throw new Refusal('webhook-not-found')
    }
    const { record, recordRevision } = state

    switch (command.type) {
      case 'UpdateWebhook':
        return updated(state, command, { allowed, mostPerOwner })
      case 'DeleteWebhook':
        requireReadScopes(command.by, record.eventTypes)
        requireRevision(command, recordRevision)
        return [{ type: 'WebhookDeleted', data: { deletedAt: now } }]
      case 'RotateSecret': {
        requireReadScopes(command.by, record.eventTypes)
        const oldSecretUntil = new Date(Date.parse(now) + OVERLAP_MS).toISOString()
        return [{ type: 'WebhookSecretRotated', data: { secret: command.sealedSecret, oldSecretUntil } }]
      }
      case 'ResealSecrets': {
        const valid = state.secrets.filter(({ until }) => until === null || until > now)
        const { renewed } = command
        const secrets = valid.map(({ sealed, until }) => ({ sealed: renewed.get(sealed) ?? sealed, until }))
        if (isDeepStrictEqual(secrets, valid)) return []
        return [{ type: 'WebhookSecretsResealed', data: { secrets } }]
      }
      case 'RecordFailure':
        return record.active && record.url === command.url ? failed(state, command.delivery, now) : []
      case 'RecordSuccess':
        if (!state.failing || record.url !== command.url) return []
        return [{ type: 'WebhookSucceeded', data: { at: now } }]
      case 'CheckOwner': {
        const { standing } = command
        if (!record.active || record.owner !== standing.user) return []
        if (unreadTypes(standing, record.eventTypes).length === 0) return []
        return [{ type: 'WebhookDisabled', data: { reason: OWNER_LACKS_SCOPE, disabledAt: now } }]
      }
      case 'DisableWebhook':
        if (!record.active || record.url !== command.url) return []
        return [{ type: 'WebhookDisabled', data: { reason: command.reason, disabledAt: now } }]
      default: {
        const missing: never = command
        return missing
      }
    }
  },
})

/** An update and, where the owner changes, the transfer before it. */
function updated(
  { record, recordRevision }: LiveWebhook,
  command: UpdateWebhook,
  { allowed, mostPerOwner }: { allowed: readonly Cidr[]; mostPerOwner: number },
): WebhookEvent[] {
  requireRevision(command, recordRevision)
  const { by, pending, standing, metadata, input } = command
  const { name, displayName, url, active, events, eventTypes, ordered, format } = input
  const fields = {
    name: name ?? record.name,
    displayName,
    url,
    active: active ?? record.active,
    eventTypes: events ?? eventTypes ?? record.eventTypes,
    ordered: ordered ?? record.ordered,
    format: format ?? record.format,
  }
  known(fields.eventTypes)
  // The caller also needs the scopes of the previous event types, and after a change of the URL those of the pending
  // deliveries, which go to the new URL.
  const sentElsewhere = url === record.url ? [] : pending
  requireReadScopes(by, [...fields.eventTypes, ...record.eventTypes, ...sentElsewhere])
  if (url !== record.url) reachable(url, allowed)
  const decided: WebhookEvent[] = []
  const owner = input.owner ?? record.owner
  if (owner !== null && owner !== record.owner) {
    requireTransferable(owner, command)
    requireFewer(command.owned ?? 0, mostPerOwner)
    decided.push({ type: 'WebhookTransferred', data: { owner, transferredAt: metadata.now } })
  }
  if (fields.active && owner !== null)
    requireOwnersScopes(owner, [...fields.eventTypes, ...pending], standing)
  if (!isDeepStrictEqual({ ...record, ...fields }, record))
    decided.push({ type: 'WebhookUpdated', data: { ...fields, updatedAt: metadata.now } })
  return decided
}

/** @throws Refusal role-missing, invalid-request when the new owner is not an active user */
function requireTransferable(owner: string, { by, standing }: UpdateWebhook): void {
  if (!ADMINISTRATOR_ROLES.includes(by.role))
    throw new Refusal('role-missing', { detail: 'only an administrator may transfer a webhook' })
  if (standing?.user === owner && standing.status === 'ACTIVE') return
  throw invalidField('owner', 'must be the id of an active user')
}

/** @throws Refusal too-many-webhooks */
function requireFewer(owned: number, most: number): void {
  if (most === 0 || owned < most) return
  const detail = `a user may have ${most} webhooks (MAX_WEBHOOKS_PER_OWNER)`
  throw new Refusal('too-many-webhooks', { detail, limit: most })
}

/**
 * Accepts an owner whose role and status are unknown: the webhook is checked again when they are known.
 * @throws Refusal owner-lacks-scope
 */
function requireOwnersScopes(owner: string, eventTypes: readonly string[], standing?: Standing): void {
  if (standing?.user !== owner) return
  const unread = unreadTypes(standing, eventTypes)
  if (unread.length === 0) return
  const is = {
    ACTIVE: 'may not read',
    INACTIVE: 'is inactive and may not read',
    GONE: 'is deleted and may not read',
  }
  throw new Refusal('owner-lacks-scope', {
    detail: `the owner of the webhook ${is[standing.status]} ${neededFor(unread)}; an administrator can transfer it to another owner`,
    eventTypes: unread,
  })
}

/** Not applied to an unchanged URL, so that a webhook remains editable when its address is no longer allowed. */
function reachable(url: string, allowed: readonly Cidr[]): void {
  const refused = refusedHost(url, allowed)
  if (refused === undefined) return
  throw invalidField(
    'url',
    `names an address that webhooks may not use: ${refused}; the setting WEBHOOK_ALLOWED_CIDRS can allow it`,
  )
}

function known(eventTypes: readonly string[]): void {
  const unknown = eventTypes.filter(type => !isEventType(type))
  if (unknown.length === 0) return
  const types = Object.keys(EVENT_TYPES)
  throw new Refusal('unknown-event-types', {
    detail: `there is no ${unknown.join(', ')}; the event types are ${types.join(', ')}`,
    unknown,
    known: types,
  })
}

/** A technical name derived from a display name: its lower-case ASCII letters and digits. */
const slug = (displayName: string) =>
  displayName
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'webhook'

/** Changes have the URL without secrets: readers of the audit log, histories and public events need not have the scopes. */
function describe(before: WebhookState, event: WebhookEvent, after: WebhookState): Change | null {
  const was = recordOf(before)
  const is = recordOf(after)
  if (event.type === 'WebhookDeliveryFailed' || event.type === 'WebhookSucceeded') return null
  if (event.type === 'WebhookSecretsResealed') return null
  const actions = {
    WebhookCreated: 'WEBHOOK_CREATED',
    WebhookUpdated: 'WEBHOOK_UPDATED',
    WebhookTransferred: 'WEBHOOK_TRANSFERRED',
    WebhookSecretRotated: 'WEBHOOK_SECRET_ROTATED',
    WebhookFailing: 'WEBHOOK_FAILING',
    WebhookDisabled: 'WEBHOOK_DISABLED',
    WebhookDeleted: 'WEBHOOK_DELETED',
  } as const
  return {
    action: actions[event.type],
    resourceType: 'WEBHOOK',
    resourceId: (is ?? was)?.id ?? '',
    before: was ?? null,
    after: after.status === 'Live' && is ? { ...is, ...warningOf(event) } : null,
  }
}

const warningOf = (event: WebhookEvent) =>
  event.type === 'WebhookFailing' && {
    failingSince: event.data.since,
    failedDeliveries: event.data.deliveries,
  }

function recordOf(state: WebhookState) {
  const record = state.status === 'Live' ? state.record : state.status === 'Deleted' ? state.last : undefined
  return record && { ...record, url: withoutSecrets(record.url) }
}
