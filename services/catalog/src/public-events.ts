import { type Fact, streamId } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { changed, publicMessage } from '@gantry/service-kit'

/** The public events of a recorded event; none for event types that are internal to catalog. */
export function publicEvents(event: Fact): Message[] {
  const { change } = event.metadata
  if (!change) return []
  const api = streamId(event.stream)
  const told = (type: string, subject: string, data: object) => [
    publicMessage('catalog', event, type, subject, data),
  ]
  switch (event.type) {
    case 'ApiCreated':
    case 'ApiUpdated':
    case 'ApiDeleted':
      return told(change.action, api, changed(change))
    case 'VersionCreated':
    case 'VersionUpdated':
    case 'VersionDeleted':
      return told(change.action, api, changed(change))
    case 'DeploymentStarted':
      return told('DEPLOYMENT_REQUESTED', api, { ...event.data, api, status: 'RUNNING' })
    case 'ApiDeployed':
    case 'ApiUndeployed': {
      const { job, environment } = event.data
      return told(change.action, api, { api: changed(change), environment, job })
    }
    case 'DeploymentFailed': {
      const { job, environment, type, message } = event.data
      return told(change.action, api, {
        api: changed(change),
        environment,
        job,
        type,
        message: message ?? null,
      })
    }
    default:
      return []
  }
}
