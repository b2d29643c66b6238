import { subjects } from '@gantry/contracts'
import type { Message } from '@gantry/messaging'
import { type Dependencies, reactionTo } from '@gantry/service-runtime'
import type { ImageAggregate } from './image/image.decide.ts'

/** The subjects that media consumes. */
export const reactsTo = [subjects.events('catalog', 'API_DELETED')]

/** Discards the image of a deleted API and prevents further uploads for it. Repeating a message changes nothing. */
export const reactionsOf =
  (image: ImageAggregate, dependencies: Pick<Dependencies, 'now' | 'newId'>) =>
  async (message: Message): Promise<void> => {
    if (!reactsTo.includes(message.subject)) return
    const { event, metadata } = reactionTo(message, dependencies)
    await image.execute(event.subject, { type: 'DiscardImage', metadata })
  }
