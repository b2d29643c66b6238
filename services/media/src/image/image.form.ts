import multipart, { type MultipartFile } from '@fastify/multipart'
import { bodyLimitOf, Refusal, uploadImage } from '@gantry/contracts'
import { countBody } from '@gantry/service-runtime'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { dropRest } from '../bytes/upload.ts'

const MAX_BYTES = 5 * 1_048_576
const LIMITS = { fileSize: MAX_BYTES, headerPairs: 100, headerSize: 4_096, parts: 110 }
/** Memory that a part occupies until the request ends, in bytes, besides its names. */
const PART_BYTES = 1_024

/** Makes the routes of this app accept multipart forms and no other body. */
export async function acceptForms(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers()
  await app.register(multipart, {
    throwFileSizeLimit: false,
    // Treats fields as files, so that their content is dropped. The parser would keep field values in memory.
    isPartAFile: () => true,
    limits: LIMITS,
  })
}

/**
 * Reads a form with exactly one file part, named `file`, and passes its bytes to `write` as they arrive. Fields are
 * ignored. Calls of `write` do not overlap, and reading pauses during a call, so that no more of the body is in memory.
 * @throws Refusal image-missing, image-not-alone, image-too-large, unsupported-media-type, malformed-request,
 *   body-memory-full; what `write` throws
 */
export async function readForm(
  request: FastifyRequest,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<void> {
  if (!request.isMultipart()) {
    throw new Refusal('unsupported-media-type', { detail: 'the body must be multipart/form-data' })
  }
  const limit = bodyLimitOf(uploadImage)
  if (Number(request.headers['content-length']) > limit) throw tooLarge()
  const body = request.raw
  if (body.destroyed) throw malformed()
  const overrun = Promise.withResolvers<never>()
  let received = 0
  const count = (chunk: Buffer) => {
    received += chunk.length
    if (received > limit) overrun.reject(tooLarge())
  }
  const failed: { by?: unknown } = {}
  const writing = (chunk: Uint8Array) =>
    write(chunk).catch(error => {
      failed.by = error
      throw error
    })
  body.on('data', count)
  try {
    await Promise.race([onlyFile(request, writing), overrun.promise])
  } catch (error) {
    throw error instanceof Refusal || error === failed.by ? error : malformed()
  } finally {
    body.off('data', count)
    dropRest(body)
  }
}

async function onlyFile(request: FastifyRequest, write: (chunk: Uint8Array) => Promise<void>): Promise<void> {
  const counted = countBody(request)
  let files = 0
  let found = false
  for await (const part of request.parts()) {
    if (part.type !== 'file') continue
    counted.add(PART_BYTES + (part.fieldname ?? '').length + (part.filename ?? '').length)
    if (isFile(part) && ++files > 1) throw new Refusal('image-not-alone')
    if (!isFile(part) || part.fieldname !== 'file') {
      part.file.resume()
      continue
    }
    for await (const chunk of part.file) await write(chunk)
    if (part.file.truncated) throw tooLarge()
    found = true
  }
  if (!found) throw new Refusal('image-missing', { detail: 'the form has no file part named file' })
}

/** Whether a part is a file: it has a filename (RFC 7578 §4.2) or is application/octet-stream. */
const isFile = ({ filename, mimetype }: Pick<MultipartFile, 'mimetype'> & { filename: string | undefined }) =>
  filename !== undefined || mimetype === 'application/octet-stream'

const tooLarge = () => new Refusal('image-too-large', { detail: 'an image must not be larger than 5 MiB' })
const malformed = () => new Refusal('malformed-request', { detail: 'the form is malformed or incomplete' })
