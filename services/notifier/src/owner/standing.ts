import { isEventType, mayReadEvent, ROLE_SCOPES, type Role, type Scope } from '@gantry/contracts'

/** What a user is, as identity says. */
export type Standing = { user: string } & (
  | { status: 'ACTIVE' | 'INACTIVE'; role: Role }
  /** Deleted, or there never was such a user. */
  | { status: 'GONE' }
)

const scopesOf = (standing: Standing): readonly Scope[] =>
  standing.status === 'ACTIVE' ? ROLE_SCOPES[standing.role] : []

/**
 * The event types whose payloads the user may not read by role. Types that this release does not know are left out:
 * during an upgrade the replicas of the newer release decide on them.
 */
export const unreadTypes = (standing: Standing, eventTypes: readonly string[]): string[] =>
  eventTypes.filter(type => isEventType(type) && !mayReadEvent(scopesOf(standing), type))
