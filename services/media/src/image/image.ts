import type { ImageRecord } from '@gantry/contracts'
import type { EventSchemas } from '@gantry/event-sourcing'

export type ImageEvent =
  | { type: 'ImageUploaded'; data: ImageRecord & { api: string } }
  | { type: 'ImageDeleted'; data: object }
  /** The API was deleted, with or without an image. No event follows. */
  | { type: 'ImageDiscarded'; data: object }

/** The image of an API. The stream is named by the id of the API. */
export type ImageState =
  | { status: 'Absent' }
  | { status: 'Live'; api: string; record: ImageRecord }
  | { status: 'Discarded' }

/** Every event type that this release knows, with its upcasters. */
export const imageEvents: EventSchemas<ImageEvent> = {
  ImageUploaded: [],
  ImageDeleted: [],
  ImageDiscarded: [],
}

export const initialImage: ImageState = { status: 'Absent' }

export function evolveImage(state: ImageState, event: ImageEvent): ImageState {
  switch (event.type) {
    case 'ImageUploaded': {
      const { api, ...record } = event.data
      return { status: 'Live', api, record }
    }
    case 'ImageDeleted':
      return { status: 'Absent' }
    case 'ImageDiscarded':
      return { status: 'Discarded' }
    default:
      event satisfies never
      return state
  }
}
