import type { Scope } from './scopes.ts'

/** The scope that a reader of the payload needs, for every type of public event. */
export const EVENT_SCOPES = {
  API_CREATED: 'API_READ',
  API_UPDATED: 'API_READ',
  API_DELETED: 'API_READ',
  API_DEPLOYED: 'API_READ',
  API_UNDEPLOYED: 'API_READ',
  API_DEPLOYMENT_FAILED: 'API_READ',
  API_VERSION_CREATED: 'API_READ',
  API_VERSION_UPDATED: 'API_READ',
  API_VERSION_DELETED: 'API_READ',
  API_IMAGE_UPDATED: 'API_READ',
  API_IMAGE_DELETED: 'API_READ',
  PRODUCT_API_ADDED: 'API_READ',
  PRODUCT_API_REMOVED: 'API_READ',
  DEPLOYMENT_REQUESTED: 'API_READ',
  TEST: 'WEBHOOKS_READ',
  WEBHOOK_CREATED: 'WEBHOOKS_READ',
  WEBHOOK_UPDATED: 'WEBHOOKS_READ',
  WEBHOOK_TRANSFERRED: 'WEBHOOKS_READ',
  WEBHOOK_SECRET_ROTATED: 'WEBHOOKS_READ',
  WEBHOOK_FAILING: 'WEBHOOKS_READ',
  WEBHOOK_DISABLED: 'WEBHOOKS_READ',
  WEBHOOK_DELETED: 'WEBHOOKS_READ',
  RECOVERY_REQUESTED: 'WEBHOOKS_READ',
  RECOVERY_CANCELLED: 'WEBHOOKS_READ',
  DELIVERY_RETRIED: 'WEBHOOKS_READ',
  DELIVERY_CANCELLED: 'WEBHOOKS_READ',
  SUBSCRIPTION_CREATED: 'SUBSCRIPTIONS_READ',
  SUBSCRIPTION_DELETED: 'SUBSCRIPTIONS_READ',
  APPROVAL_REQUEST_CREATED: 'APPROVAL_REQUEST_READ',
  APPROVAL_REQUEST_DECIDED: 'APPROVAL_REQUEST_READ',
  CONFIGURATION_CHANGED: 'CONFIGURATION_READ',
  USER_CREATED: 'USER_READ',
  USER_UPDATED: 'USER_READ',
  USER_DELETED: 'USER_READ',
} as const satisfies Record<string, Scope>
export type PublicEventType = keyof typeof EVENT_SCOPES

const ALL_READ_SCOPES: readonly Scope[] = [...new Set(Object.values(EVENT_SCOPES))]

/**
 * The scopes that a reader of an event needs. A type that this release does not know needs the scopes of all types. So a
 * reader with all scopes also gets the events of newer releases, and no other reader gets events that they may not read.
 */
export const readScopesOf = (type: string): readonly Scope[] =>
  Object.hasOwn(EVENT_SCOPES, type) ? [EVENT_SCOPES[type as PublicEventType]] : ALL_READ_SCOPES

/** Whether a holder of the scopes may read payloads of the type. */
export const mayReadEvent = (scopes: readonly Scope[], type: string): boolean =>
  readScopesOf(type).every(scope => scopes.includes(scope))
