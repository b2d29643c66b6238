import { mayReadEvent, type Principal, Refusal, readScopesOf } from '@gantry/contracts'

/** Describes the event types with the scopes that they need, for problem details. */
export const neededFor = (eventTypes: readonly string[]): string =>
  eventTypes.map(type => `${type}, which needs the scope ${readScopesOf(type).join(', ')}`).join('; ')

/**
 * Requires that the caller may read the payloads of all event types.
 * @throws Refusal scope-missing naming types and scopes
 */
export function requireReadScopes(
  { scopes }: Pick<Principal, 'scopes'>,
  eventTypes: readonly string[],
): void {
  const unread = [...new Set(eventTypes)].filter(type => !mayReadEvent(scopes, type))
  if (unread.length === 0) return
  throw new Refusal('scope-missing', {
    detail: `needs ${unread.map(type => `the scope ${readScopesOf(type).join(', ')} for the event type ${type}`).join(', ')}`,
    eventTypes: unread,
    scopes: [...new Set(unread.flatMap(readScopesOf))],
  })
}
