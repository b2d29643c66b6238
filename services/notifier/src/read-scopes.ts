import { mayReadEvent, type Principal, readScopesOf } from '@gantry/contracts'
import { Refusal } from '@gantry/event-sourcing'

/** Refuses a caller who may not read payloads of one of the event types. @throws Refusal scope-missing naming types and scopes */
export function requireReadScopes(
  { scopes }: Pick<Principal, 'scopes'>,
  eventTypes: readonly string[],
): void {
  const unread = [...new Set(eventTypes)].filter(type => !mayReadEvent(scopes, type))
  if (unread.length === 0) return
  throw new Refusal('scope-missing', {
    detail: unread.map(type => `${type} needs the scope ${readScopesOf(type).join(', ')}`).join('; '),
    eventTypes: unread,
    scopes: [...new Set(unread.flatMap(readScopesOf))],
  })
}
