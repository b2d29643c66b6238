import { z } from 'zod'
import { ApiPath } from './apis.ts'
import { operation } from './operation.ts'

export const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/svg+xml'] as const

/** Media type of an image. */
const ImageType = z.enum(IMAGE_TYPES).meta({ id: 'ImageType' })

export const ImageRecord = z
  .object({
    contentType: ImageType,
    size: z.int().meta({ description: 'Bytes' }),
    width: z.int().meta({ description: 'Pixels' }),
    height: z.int().meta({ description: 'Pixels' }),
    sha256: z.string().meta({ description: 'Hexadecimal' }),
  })
  .meta({ id: 'Image' })
export type ImageRecord = z.infer<typeof ImageRecord>

const part = { service: 'media', tag: 'Images', params: ApiPath } as const

export const uploadImage = operation('uploadImage', 'PUT /apis/{api_id}/image', {
  ...part,
  summary: 'Upload the image of an API',
  description:
    'PNG, JPEG, GIF, WebP or SVG; the content decides, not the name or media type. At most 5 MiB and 40 megapixels.',
  scope: 'API_WRITE',
  body: z
    .object({ file: z.any().meta({ override: { type: 'string', format: 'binary' } }) })
    .meta({ id: 'ImageUpload' }),
  bodyMediaType: 'multipart/form-data',
  // The image and the rest of the form: headers, boundaries, ignored fields.
  bodyLimit: 6 * 1_048_576,
  responses: {
    200: {
      description: 'The properties of the image',
      schema: ImageRecord,
      example: { contentType: 'image/png', size: 68, width: 1, height: 1, sha256: 'a1'.repeat(32) },
    },
  },
  problems: [
    'api-not-found',
    'image-missing',
    'image-not-alone',
    'image-unreadable',
    'image-too-large',
    'image-type-unsupported',
  ],
})

export const downloadImage = operation('downloadImage', 'GET /apis/{api_id}/image', {
  ...part,
  summary: 'Download the image of an API',
  scope: 'API_READ',
  responses: {
    200: {
      description: 'The image',
      mediaTypes: IMAGE_TYPES,
      headers: { 'Cache-Control': 'private, no-cache' },
    },
    304: { description: 'The record still has a given entity tag' },
  },
  problems: ['api-not-found', 'image-not-found'],
  conditional: true,
})

export const deleteImage = operation('deleteImage', 'DELETE /apis/{api_id}/image', {
  ...part,
  summary: 'Delete the image of an API',
  scope: 'API_WRITE',
  responses: { 204: { description: 'Deleted' } },
  problems: ['api-not-found', 'image-not-found'],
})
