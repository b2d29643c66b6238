import { createGunzip } from 'node:zlib'
import {
  type DocumentError,
  type DocumentKind,
  documentTooLarge,
  MAX_DOCUMENT_BYTES,
  Refusal,
} from '@gantry/contracts'
import { charsetOf, countBody, isGzip } from '@gantry/service-runtime'
import type { FastifyRequest } from 'fastify'
import type { StoredBytes } from '../bytes/bytes.ts'
import { BUFFER_BYTES, dropRest, Upload } from '../bytes/upload.ts'
import { type Checked, DocumentInvalid } from '../check/checked.ts'
import type { Checker } from './checker.ts'
import type { Contents } from './contents.ts'
import type { DocumentContent } from './document.ts'

export interface DocumentUploads {
  bytes: StoredBytes
  checker: Checker
  contents: Contents
  /** Whether documents with errors are refused. */
  strict: boolean
}

/**
 * Receives, checks and stores a document. Its bytes are durable when this returns.
 * @throws Refusal document-invalid, document-too-large, unsupported-media-type, malformed-request, too-many-checks,
 *   body-memory-full
 */
export async function receiveDocument(
  request: FastifyRequest,
  { name, kind }: { name: string; kind: DocumentKind | undefined },
  { bytes, checker, contents, strict }: DocumentUploads,
): Promise<DocumentContent> {
  const counted = countBody(request)
  const upload = new Upload(bytes, counted)
  try {
    for await (const chunk of bytesOf(request)) await upload.write(chunk)
    const { size, sha256 } = upload
    let held = 0
    const read = async () => {
      const all = await upload.withBytes(inOwnMemory)
      counted.add(size)
      held = size
      return all
    }
    const options = { kind, charset: charsetOf(request.headers['content-type']) }
    const checked = await checker.check({ size, read }, options).finally(() => counted.subtract(held))
    const content = documentContent({ name, size, sha256 }, checked, strict)
    await upload.store()
    await contents.keep(sha256, checked)
    return content
  } catch (error) {
    throw error instanceof DocumentInvalid ? refused(error.errors) : error
  } finally {
    await upload.discard()
  }
}

/** The properties of a document that was checked. @throws DocumentInvalid for errors, if those are refused */
export function documentContent(
  { name, size, sha256 }: Pick<DocumentContent, 'name' | 'size' | 'sha256'>,
  { kind, mediaType, content, findings }: Checked,
  strict: boolean,
): DocumentContent {
  const errors = findings.filter(({ severity }) => severity === 'ERROR')
  if (strict && errors.length > 0) throw new DocumentInvalid(errors)
  const { title, version, operations, schemas } = content
  return {
    ...{ name, kind, mediaType, size, sha256, title, version },
    counts: { operations: operations.length, schemas: schemas.length },
    findings: { errors: errors.length, warnings: findings.length - errors.length },
  }
}

/** A large document has been read into memory of its own, which can be passed on; that of a small one is still in use. */
const inOwnMemory = (bytes: Buffer): Uint8Array =>
  bytes.length > BUFFER_BYTES && bytes.buffer.byteLength === bytes.length ? bytes : Uint8Array.from(bytes)

/** The refusal of a document, or of another text, with the places of its faults. */
export function refused(
  given: readonly DocumentError[],
  code: 'document-invalid' | 'rule-set-invalid' = 'document-invalid',
): Refusal {
  const errors = given.map(({ line, column, pointer, message }) => ({ line, column, pointer, message }))
  const [first] = errors
  const place = first?.line ? `line ${first.line}${first.column ? `, column ${first.column}` : ''}: ` : ''
  return new Refusal(code, { detail: place + (first?.message ?? ''), errors })
}

const malformed = (detail: string) => new Refusal('malformed-request', { detail })

/** The body as it arrives, decompressed. Reading pauses while a chunk is in use. */
async function* bytesOf({ raw: body, headers }: FastifyRequest): AsyncGenerator<Buffer> {
  const compressed = isGzip(headers)
  if (Number(headers['content-length']) > MAX_DOCUMENT_BYTES) throw documentTooLarge()
  if (body.destroyed) throw malformed('the request was aborted')
  const source = compressed ? body.pipe(createGunzip()) : body
  const aborted = () => {
    if (!body.readableEnded) source.destroy(new Error('the request was aborted'))
  }
  body.once('close', aborted)
  let size = 0
  try {
    // The request is not destroyed with the iterator: the response would be lost.
    for await (const chunk of source.iterator({ destroyOnReturn: source !== body })) {
      size += (chunk as Buffer).length
      if (size > MAX_DOCUMENT_BYTES) throw documentTooLarge()
      yield chunk as Buffer
    }
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw malformed(compressed && !body.destroyed ? 'the body is not gzip' : 'the request was aborted')
  } finally {
    body.off('close', aborted)
    dropRest(body)
  }
}
