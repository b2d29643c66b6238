import type { PublicEventData, PublicEventType } from '@gantry/contracts'
import { type Fact, streamId } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { changed, publicMessage, resourceMessages } from '@gantry/service-runtime'
import type { ApiEvent } from './api/api.ts'

type Data<Type extends ApiEvent['type']> = Extract<ApiEvent, { type: Type }>['data']

/** The public events of a recorded event; none for event types that are internal to catalog. */
export function publicEvents(event: Fact): Message[] {
  const { change } = event.metadata
  if (!change) return []
  const api = streamId(event.stream)
  const message = <Type extends PublicEventType>(type: Type, data: PublicEventData<Type>) => [
    publicMessage('catalog', event, type, api, data),
  ]
  switch (change.action) {
    case 'API_DEPLOYMENT_STARTED':
    case 'API_UNDEPLOYMENT_STARTED': {
      const job = event.data as unknown as Data<'DeploymentStarted'>
      return message('DEPLOYMENT_REQUESTED', { ...job, api, status: 'RUNNING' })
    }
    case 'API_DEPLOYED':
    case 'API_UNDEPLOYED': {
      const { job, environment } = event.data as unknown as Data<'ApiDeployed'>
      return message(change.action, { api: changed(change), environment, job })
    }
    case 'API_DEPLOYMENT_FAILED': {
      const { job, environment, type, message: reason } = event.data as unknown as Data<'DeploymentFailed'>
      return message(change.action, { api: changed(change), environment, job, type, message: reason })
    }
    default:
      return resourceMessages('catalog', event)
  }
}
