/**
 * Bytes to upload. A stream is sent once, so that its request is not retried; a function that returns a new stream for each
 * attempt allows retries.
 */
export type Content =
  | string
  | Blob
  | ArrayBuffer
  | Uint8Array
  | ReadableStream<Uint8Array>
  | (() => ReadableStream<Uint8Array>)

type BodyInit = NonNullable<RequestInit['body']>

/** The body of a request. */
export interface RequestBody {
  /** Absent for forms, whose type names the boundary. */
  contentType?: string | undefined
  /** Gives the body of an attempt. */
  init(): BodyInit
  /** Whether there can be only one attempt. */
  once?: boolean
}

/**
 * @param mediaType what the operation accepts; `*` and `*` stand for any
 * @param contentType replaces the media type
 */
export async function requestBody(
  body: unknown,
  mediaType = 'application/json',
  contentType?: string,
): Promise<RequestBody | undefined> {
  if (body === undefined) return undefined
  if (mediaType === 'multipart/form-data') {
    const form = new FormData()
    form.set('file', await blobOf(body as Content), 'file')
    return { init: () => form }
  }
  if (mediaType !== '*/*') {
    const text = JSON.stringify(body)
    return { contentType: contentType ?? mediaType, init: () => text }
  }
  const type = contentType ?? ((body instanceof Blob && body.type) || 'application/octet-stream')
  if (typeof body === 'function') return { contentType: type, init: body as () => ReadableStream<Uint8Array> }
  return { contentType: type, init: () => body as BodyInit, once: body instanceof ReadableStream }
}

/** The whole content: parts of a form have a known size. */
async function blobOf(content: Content): Promise<Blob> {
  if (content instanceof Blob) return content
  const body = typeof content === 'function' ? content() : content
  return new Response(body as BodyInit).blob()
}
