import { isEventType, mayReadEvent, ROLE_SCOPES, type Role, type Scope } from '@gantry/contracts'

/** Role and status of a user according to identity. */
export type Standing = { user: string } & (
  | { status: 'ACTIVE' | 'INACTIVE'; role: Role }
  /** The user was deleted or never existed. */
  | { status: 'GONE' }
)

const scopesOf = (standing: Standing): readonly Scope[] =>
  standing.status === 'ACTIVE' ? ROLE_SCOPES[standing.role] : []

/**
 * The event types whose payloads the role of the user does not allow to read. Types that this release does not know are
 * left out: during an upgrade the replicas of the newer release decide on them.
 */
export const unreadTypes = (standing: Standing, eventTypes: readonly string[]): string[] =>
  eventTypes.filter(type => isEventType(type) && !mayReadEvent(scopesOf(standing), type))
