import { PUBLIC_EVENTS, subjects } from '@gantry/contracts'
import type { Message } from '@gantry/messaging'
import { contentOf, type Dependencies, reactionTo } from '@gantry/service-runtime'
import type { DocumentsAggregate } from './document/document.decide.ts'
import type { ImageAggregate } from './image/image.decide.ts'

/** The subject of each consumer. One subject per consumer lets the message server restrict each consumer to it. */
export const reactsTo = {
  media: subjects.events('catalog', 'API_DELETED'),
  'media-versions': subjects.events('catalog', 'API_VERSION_DELETED'),
}

/**
 * Discards the image and the documents of a deleted API or version, and prevents further uploads for it. Repeating a message
 * changes nothing.
 */
export const reactionsOf =
  (
    { image, documents }: { image: ImageAggregate; documents: DocumentsAggregate },
    dependencies: Pick<Dependencies, 'now' | 'newId'>,
  ) =>
  async (message: Message): Promise<void> => {
    if (!Object.values(reactsTo).includes(message.subject)) return
    const { event, metadata } = reactionTo(message, dependencies)
    const { subject: api } = event
    if (event.type === 'API_VERSION_DELETED') {
      const { id } = contentOf(PUBLIC_EVENTS.API_VERSION_DELETED.data.pick({ id: true }), event)
      await documents.execute(api, { type: 'DiscardVersion', metadata, version: id })
      return
    }
    await image.execute(api, { type: 'DiscardImage', metadata })
    await documents.execute(api, { type: 'DiscardDocuments', metadata })
  }
