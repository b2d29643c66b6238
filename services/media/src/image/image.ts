import type { ImageRecord } from '@gantry/contracts'

export type ImageEvent =
  | { type: 'ImageUploaded'; data: ImageRecord & { api: string } }
  | { type: 'ImageDeleted'; data: object }
  /** The API was deleted, whether it had an image or not: none comes after this. */
  | { type: 'ImageDiscarded'; data: object }

/** The image of an API; its stream has the API's id. */
export type ImageState =
  | { status: 'Absent' }
  | { status: 'Live'; api: string; record: ImageRecord }
  | { status: 'Discarded' }

export const initialImage: ImageState = { status: 'Absent' }

export function evolveImage(_state: ImageState, event: ImageEvent): ImageState {
  switch (event.type) {
    case 'ImageUploaded': {
      const { api, ...record } = event.data
      return { status: 'Live', api, record }
    }
    case 'ImageDeleted':
      return { status: 'Absent' }
    case 'ImageDiscarded':
      return { status: 'Discarded' }
    default: {
      const missing: never = event
      return missing
    }
  }
}
