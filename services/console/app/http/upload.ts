import { type GantryClient, gantryClient } from '@gantry/client'
import { authorized } from './client.ts'
import { INTERFACE_PATH } from './place.ts'
import { RequestFailed } from './problem.ts'
import { randomId } from './random-id.ts'

/** @param part share of the bytes that are sent, from 0 to 1 */
type Progress = (part: number) => void

/**
 * A client that sends files and tells its progress, which fetch does not. Without a time limit: the person sees the progress
 * and can cancel.
 */
export const uploader = (onProgress: Progress = () => {}): Pick<GantryClient, 'putDocument' | 'importApi'> =>
  gantryClient({
    baseUrl: INTERFACE_PATH,
    fetch: authorized((url, init = {}) => transmit(`${url}`, init, onProgress)),
    retries: 0,
  })

function transmit(url: string, init: RequestInit, onProgress: Progress): Promise<Response> {
  const { method = 'GET', body, headers, signal } = init
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  const request = new XMLHttpRequest()
  const requestId = randomId()
  request.open(method, url)
  for (const [name, value] of new Headers(headers)) request.setRequestHeader(name, value)
  request.setRequestHeader('x-request-id', requestId)
  request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
  request.onload = () => {
    const names = ['x-request-id', 'retry-after', 'etag']
    const known = names.flatMap((name): [string, string][] => {
      const value = request.getResponseHeader(name)
      return value ? [[name, value]] : []
    })
    resolve(new Response(request.responseText, { status: request.status, headers: known }))
  }
  request.onerror = () =>
    reject(
      new RequestFailed({
        status: 0,
        code: 'unreachable',
        title: 'The service cannot be reached',
        detail: 'The file could not be sent, or the response was cut off.',
        requestId,
      }),
    )
  request.onabort = () => reject(signal?.reason)
  signal?.addEventListener('abort', () => request.abort(), { once: true })
  request.send(body as Blob)
  return promise
}
