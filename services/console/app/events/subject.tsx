import { useEnvironmentNames } from '../parts/environments.ts'
import { LoggedName } from '../parts/logged-name.tsx'
import type { FeedEvent } from './buffer.ts'
import { apiOf, environmentOf, nameIn, webhookOf } from './describe.ts'

/**
 * The name of the resource of an event after that of its API, and before that of the environment of a deployment, as far as
 * the caller may read them; else the id.
 */
export function Subject({ event }: { event: FeedEvent }) {
  const environment = environmentOf(event)
  if (environment === undefined) return <Resource event={event} />
  return (
    <>
      <Resource event={event} /> › <EnvironmentName id={environment} />
      {event.type === 'DEPLOYMENT_REQUESTED' && event.data.type === 'UNDEPLOY' && ', to undeploy'}
    </>
  )
}

const EnvironmentName = ({ id }: { id: string }) => useEnvironmentNames().get(id) ?? <LoggedName id={id} />

function Resource({ event }: { event: FeedEvent }) {
  const api = apiOf(event)
  const name = nameIn(event)
  // Of what belongs to an API, the data have the id of the API alone.
  if (typeof event.data.api !== 'string' || !api)
    return name ?? <LoggedName id={webhookOf(event) ?? event.subject} />
  return (
    <>
      <LoggedName id={api} />
      {name && ` › ${name}`}
    </>
  )
}

/** The cause of an event: the username of a user, or the name of a part of the service. */
export function Actor({ actor: { id, name } }: { actor: FeedEvent['actor'] }) {
  return id === null ? name : <LoggedName id={id} as="username" />
}
