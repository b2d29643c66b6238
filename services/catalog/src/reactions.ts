import { DeploymentReport, PUBLIC_EVENTS, subjects } from '@gantry/contracts'
import type { Position } from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import { contentOf, type Dependencies, ownMetadata, reactionTo } from '@gantry/service-runtime'
import type { ApiAggregate } from './api/api.decide.ts'

/** The subject of each consumer. One subject per consumer lets the message server restrict each consumer to it. */
export const reactsTo = {
  'catalog-media': subjects.events('media', '*'),
  'catalog-platform': subjects.events('platform', '*'),
  'catalog-deployments': subjects.deploymentReported,
}

type ReactionOptions = Pick<Dependencies, 'now' | 'newId' | 'process'> & { api: ApiAggregate }

/**
 * Turns messages of other services into commands. A message that was handled before changes nothing.
 * @returns a function that handles a message. It returns the position of a change of documents
 */
export function reactionsOf({
  api,
  process,
  ...dependencies
}: ReactionOptions): (message: Message) => Promise<Position | undefined> {
  return async message => {
    if (message.subject === subjects.deploymentReported) {
      const report = contentOf(DeploymentReport, message)
      const own = ownMetadata(dependencies, 'deployment agent')
      const metadata = { ...own, requestId: message.id, causationId: message.id }
      const { events } = await api.execute(report.api, { type: 'ReportDeployment', metadata, report })
      if (events.length === 0) {
        const { job, api, environment, outcome } = report
        process.log.warn(
          { job, api, environment, outcome },
          'a deployment report changes nothing: its job is not running',
        )
      }
      return
    }
    const { event, metadata } = reactionTo(message, dependencies)
    switch (event.type) {
      case 'API_IMAGE_UPDATED':
        await api.execute(event.subject, { type: 'AttachImage', metadata, imageRevision: event.revision })
        return undefined
      case 'API_IMAGE_DELETED':
        await api.execute(event.subject, { type: 'DetachImage', metadata, imageRevision: event.revision })
        return
      case 'API_VERSION_DOCUMENT_UPDATED':
      case 'API_VERSION_DOCUMENT_DELETED': {
        const data = contentOf(PUBLIC_EVENTS[event.type].data, event)
        const { apiVersion: version, name, kind, primary, counts } = data
        const about = { metadata, version, documentRevision: event.revision }
        const { position } = await api.execute(
          event.subject,
          event.type === 'API_VERSION_DOCUMENT_UPDATED'
            ? { type: 'AttachDocument', ...about, document: { name, kind, primary, counts } }
            : { type: 'DetachDocument', ...about, name },
        )
        return position
      }
      case 'PRODUCT_API_ADDED':
      case 'PRODUCT_API_REMOVED': {
        const { product, api: member } = contentOf(PUBLIC_EVENTS[event.type].data, event)
        const type = event.type === 'PRODUCT_API_ADDED' ? 'JoinProduct' : 'LeaveProduct'
        await api.execute(member.toLowerCase(), {
          type,
          metadata,
          product: product.toLowerCase(),
          at: event.time,
        })
        return
      }
    }
  }
}
