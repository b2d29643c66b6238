import { INTERFACE_PATH } from './place.ts'
import { problemOf, RequestFailed } from './problem.ts'
import { randomId } from './random-id.ts'
import { session } from './session.ts'

export interface Upload {
  method: 'PUT' | 'POST'
  /** Path of the operation with its query, e.g. `/apis/…/documents/openapi.yaml`. */
  path: string
  body: Blob
  headers: Readonly<Record<string, string>>
  signal: AbortSignal
  /** @param part share of the bytes that are sent, from 0 to 1 */
  onProgress(part: number): void
}

/**
 * Sends a file with the token of the session, and tells its progress, which fetch does not. Without a time limit:
 * the person sees the progress and can cancel.
 * @returns the JSON body of the response
 * @throws RequestFailed
 */
export async function upload(sent: Upload): Promise<unknown> {
  const sender = session.current()
  const response = await transmit(sent, sender?.token)
  if (response.status === 401 && sender && (await session.renewed(sender.token))) {
    const renewed = session.current()
    if (renewed?.user.id === sender.user.id) return bodyOf(await transmit(sent, renewed.token))
  }
  return bodyOf(response)
}

async function bodyOf(response: Response): Promise<unknown> {
  const body = await response.json().catch(() => undefined)
  if (!response.ok || body === undefined) throw new RequestFailed(problemOf(response, body))
  return body
}

function transmit(
  { method, path, body, headers, signal, onProgress }: Upload,
  token?: string,
): Promise<Response> {
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const request = new XMLHttpRequest()
  const requestId = randomId()
  const fail = () =>
    reject(
      new RequestFailed({
        status: 0,
        code: 'unreachable',
        title: 'The service cannot be reached',
        detail: 'The file could not be sent, or the response was cut off.',
        requestId,
      }),
    )
  request.open(method, INTERFACE_PATH + path)
  const all = { ...headers, 'x-request-id': requestId, ...(token && { authorization: `Bearer ${token}` }) }
  for (const [name, value] of Object.entries(all)) request.setRequestHeader(name, value)
  request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
  request.onload = () => {
    const names = ['x-request-id', 'retry-after', 'etag']
    const known = names.flatMap((name): [string, string][] => {
      const value = request.getResponseHeader(name)
      return value ? [[name, value]] : []
    })
    resolve(new Response(request.responseText, { status: request.status, headers: known }))
  }
  request.onerror = fail
  request.onabort = () => reject(signal.reason)
  signal.addEventListener('abort', () => request.abort(), { once: true })
  request.send(body)
  return promise
}
