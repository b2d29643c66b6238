import { mayReadEvent, type Principal } from '@gantry/contracts'

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
