import type { ImageRecord } from '@gantry/contracts'
import type { Project } from '@gantry/event-sourcing'
import { defineCollection } from '@gantry/stores'
import type { ImageEvent, ImageState } from './image.ts'

/** The document of an image; its id is the id of the API. */
export interface ImageDocument extends ImageRecord {
  id: string
}

export const images = defineCollection<ImageDocument>({ name: 'media.images', version: 1, fields: {} })

export const projectImage: Project<ImageState, ImageEvent> = (id, { state, revision }) => [
  { collection: images, id, doc: state.status === 'Live' ? { id, ...state.record } : null, revision },
]
