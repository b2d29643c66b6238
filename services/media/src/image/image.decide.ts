import { type Change, type ImageRecord, Refusal } from '@gantry/contracts'
import type { Aggregate, CommandMetadata, Decider } from '@gantry/event-sourcing'
import { evolveImage, type ImageEvent, type ImageState, imageEvents, initialImage } from './image.ts'

export type ImageCommand =
  | { type: 'UploadImage'; metadata: CommandMetadata; api: string; record: ImageRecord }
  | { type: 'DeleteImage'; metadata: CommandMetadata }
  | { type: 'DiscardImage'; metadata: CommandMetadata }

export type ImageAggregate = Aggregate<ImageState, ImageCommand, ImageEvent>

export const imageDecider: Decider<ImageState, ImageCommand, ImageEvent> = {
  initial: initialImage,
  events: imageEvents,
  evolve: evolveImage,
  describe,
  decide(state, command) {
    if (command.type === 'DiscardImage') {
      return state.status === 'Discarded' ? [] : [{ type: 'ImageDiscarded', data: {} }]
    }
    if (state.status === 'Discarded') throw new Refusal('api-not-found')
    if (command.type === 'DeleteImage') {
      if (state.status === 'Absent') throw new Refusal('image-not-found')
      return [{ type: 'ImageDeleted', data: {} }]
    }
    const { api, record } = command
    if (state.status === 'Live' && state.record.sha256 === record.sha256) return []
    return [{ type: 'ImageUploaded', data: { api, ...record } }]
  },
}

/** An image that is removed with its API has no change of its own: the deletion of the API implies it. */
function describe(before: ImageState, event: ImageEvent, after: ImageState): Change | null {
  if (event.type === 'ImageDiscarded') return null
  const of = (state: ImageState) => (state.status === 'Live' ? { ...state.record, api: state.api } : null)
  const [was, is] = [of(before), of(after)]
  return {
    action: event.type === 'ImageUploaded' ? 'API_IMAGE_UPDATED' : 'API_IMAGE_DELETED',
    resourceType: 'API_IMAGE',
    resourceId: (is ?? was)?.api ?? '',
    before: was,
    after: is,
  }
}
