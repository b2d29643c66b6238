import type { DocumentResponse, FromFrame } from '../parts/frame-messages.ts'

const waiting = new Map<number, (response: DocumentResponse) => void>()
/** Statuses whose responses have no body (Fetch Standard, null body status). */
const WITHOUT_BODY = [101, 103, 204, 205, 304]
let last = 0

/** Ends a request with what the console answers. */
export function settle(id: number, response: DocumentResponse): void {
  waiting.get(id)?.(response)
  waiting.delete(id)
}

/** Asks the console to send a request, since the policy of this frame allows none. @throws the reason of a failure */
export async function sendByConsole(request: Request): Promise<Response> {
  const { method, url, headers } = request
  const content = await request.arrayBuffer()
  const body = content.byteLength > 0 ? content : null
  const id = ++last
  const { promise, resolve } = Promise.withResolvers<DocumentResponse>()
  waiting.set(id, resolve)
  const asked: FromFrame = { type: 'request', id, request: { method, url, headers: [...headers], body } }
  window.parent.postMessage(asked, '*')
  const response = await promise
  if ('error' in response) throw new TypeError(response.error)
  return new Response(WITHOUT_BODY.includes(response.status) ? null : response.body, response)
}
