import { deleteImage, downloadImage, type ImageRecord, Refusal, uploadImage } from '@gantry/contracts'
import type { Executed } from '@gantry/event-sourcing'
import { type AddRoute, countBody, countResponse, matchesNone, retainBody } from '@gantry/service-runtime'
import type { Collection } from '@gantry/stores'
import type { FastifyRequest } from 'fastify'
import type { StoredBytes } from '../bytes/bytes.ts'
import type { ImageAggregate, ImageCommand } from './image.decide.ts'
import { readForm } from './image.form.ts'
import type { ImageDocument } from './image.projection.ts'
import type { ImageEvent, ImageState } from './image.ts'
import { ImageUpload } from './image.upload.ts'

export interface ImageRoutes {
  image: ImageAggregate
  images: Collection<ImageDocument>
  bytes: StoredBytes
  /** Whether the API exists according to the catalog. */
  apiExists(api: string): Promise<boolean>
  /** Sends the change of an image to other services without delay. */
  announce(api: string, executed: Executed<ImageState, ImageEvent>): Promise<void>
}

const EXTENSIONS: Readonly<Record<ImageRecord['contentType'], string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
}

/** Prevents that an image runs code when a browser opens it as a page: an SVG may contain scripts and references. */
const INERT = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'x-content-type-options': 'nosniff',
}

/** @param upload adds a route whose body is a multipart form */
export function imageRoutes(route: AddRoute, upload: AddRoute, media: ImageRoutes): void {
  const { image, images, bytes, apiExists, announce } = media

  upload(uploadImage, async ({ params: { api_id: api }, metadata, request }) => {
    if (!(await apiExists(api))) throw new Refusal('api-not-found')
    const incoming = new ImageUpload(bytes, countBody(request))
    // The bytes are durable before the event that references them is appended.
    const record = await retainBody(request, receive(request, incoming))
    await announce(api, await image.execute(api, { type: 'UploadImage', metadata, api, record }))
    return { status: 200, body: record }
  })

  route(downloadImage, async ({ params: { api_id: api }, request, reply }) => {
    const stored = await images.get(api)
    if (!stored) throw await notFound(api)
    const { contentType, sha256, size } = stored.doc
    const tag = `"${sha256}"`
    const headers = { etag: tag, 'cache-control': 'private, no-cache', ...INERT }
    if (matchesNone(request.headers['if-none-match'], tag)) return { status: 304, headers }
    await countResponse(request, reply, size)
    return {
      status: 200,
      headers: {
        ...headers,
        'content-type': contentType,
        'content-disposition': `inline; filename="${api}.${EXTENSIONS[contentType]}"`,
      },
      body: await bytes.get(sha256),
    }
  })

  route(deleteImage, async ({ params: { api_id: api }, metadata }) => {
    await announce(api, await execute(api, { type: 'DeleteImage', metadata }))
    return { status: 204 }
  })

  /**
   * Executes a command. The stream of images cannot tell an API without an image from one that does not exist, so the
   * refusal depends on `apiExists`.
   */
  const execute = async (api: string, command: ImageCommand) => {
    try {
      return await image.execute(api, command)
    } catch (error) {
      if (error instanceof Refusal && error.code === 'image-not-found') throw await notFound(api)
      throw error
    }
  }

  const notFound = async (api: string) =>
    new Refusal((await apiExists(api)) ? 'image-not-found' : 'api-not-found')
}

async function receive(request: FastifyRequest, incoming: ImageUpload): Promise<ImageRecord> {
  try {
    await readForm(request, chunk => incoming.write(chunk))
    return await incoming.store()
  } finally {
    await incoming.discard()
  }
}
