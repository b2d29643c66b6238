import type { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import { Refusal } from '@gantry/event-sourcing'
import type { FastifyInstance, FastifyRequest } from 'fastify'

const MAX_BYTES = 5 * 1_048_576
/** The image and what a form may have around it: headers, boundaries, fields that nobody reads. */
const MAX_FORM_BYTES = MAX_BYTES + 1_048_576

/** Makes the routes of this app take forms, and no other body. */
export async function takeForms(app: FastifyInstance): Promise<void> {
  app.removeAllContentTypeParsers()
  await app.register(multipart, {
    throwFileSizeLimit: false,
    limits: { fileSize: MAX_BYTES, headerPairs: 100, fields: 100, parts: 110 },
  })
}

/**
 * The file of a form that has one file part named `file`; fields beside it do not count. Holds no more of the body
 * than the limits allow, however much comes.
 * @throws Refusal image-missing, image-not-alone, image-too-large, unsupported-media-type, malformed-request
 */
export async function fileOf(request: FastifyRequest): Promise<Buffer> {
  if (!request.isMultipart()) {
    throw new Refusal('unsupported-media-type', { detail: 'the body must be multipart/form-data' })
  }
  if (Number(request.headers['content-length']) > MAX_FORM_BYTES) throw tooLarge()
  const body = request.raw
  if (body.destroyed) throw malformed()
  const overrun = Promise.withResolvers<never>()
  let received = 0
  const count = (chunk: Buffer) => {
    received += chunk.length
    if (received > MAX_FORM_BYTES) overrun.reject(tooLarge())
  }
  body.on('data', count)
  try {
    return await Promise.race([onlyFile(request), overrun.promise])
  } catch (error) {
    throw error instanceof Refusal ? error : malformed()
  } finally {
    body.off('data', count)
    // The rest is read and dropped: a client that is still sending would not read the answer otherwise.
    body.unpipe()
    body.resume()
  }
}

async function onlyFile(request: FastifyRequest): Promise<Buffer> {
  let files = 0
  let file: Buffer | undefined
  for await (const part of request.parts()) {
    if (part.type !== 'file') continue
    if (++files > 1) throw new Refusal('image-not-alone')
    if (part.fieldname === 'file') file = await bytesOf(part.file)
    else part.file.resume()
  }
  if (!file) throw new Refusal('image-missing', { detail: 'the form has no file part named file' })
  return file
}

async function bytesOf(file: Readable & { truncated: boolean }): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of file) chunks.push(chunk)
  if (file.truncated) throw tooLarge()
  return Buffer.concat(chunks)
}

const tooLarge = () => new Refusal('image-too-large', { detail: 'an image has at most 5 MiB' })
const malformed = () => new Refusal('malformed-request', { detail: 'the form is malformed or cut off' })
