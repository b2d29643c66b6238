import { CONSOLE_PATH } from '../../http/place.ts'
import type { DocumentRequest, DocumentResponse } from '../../parts/frame-messages.ts'

const TIMEOUT_MS = 60_000

/** The host of a URL, if a document may send requests to it after the person has confirmed it. */
export function originOf(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { protocol, origin } = new URL(url)
  return /^https?:$/.test(protocol) ? origin : undefined
}

/** The request in a message of a frame; undefined if it is not one. */
export function requestIn(value: unknown): DocumentRequest | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const { method, url, headers, body } = value as Record<string, unknown>
  if (typeof method !== 'string' || typeof url !== 'string' || !Array.isArray(headers)) return undefined
  const pairs = headers.map(([name, value]): [string, string] => [String(name), String(value)])
  return { method, url, headers: pairs, body: body instanceof ArrayBuffer ? body : null }
}

/**
 * Sends a request of a document in a frame of its own, whose policy allows the host of the request alone. The frame has
 * neither the document nor the session, and ends with the response.
 */
export async function sendInFrame(request: DocumentRequest): Promise<DocumentResponse> {
  const { promise, resolve } = Promise.withResolvers<DocumentResponse>()
  const frame = document.createElement('iframe')
  frame.setAttribute('sandbox', 'allow-scripts')
  frame.hidden = true
  frame.title = 'Request of a document'
  const to = originOf(request.url) ?? ''
  frame.src = `${CONSOLE_PATH}frames/sender?${new URLSearchParams({ to })}`
  const listen = ({ source, data }: MessageEvent<{ type: string; response: DocumentResponse }>) => {
    if (source !== frame.contentWindow) return
    if (data.type === 'ready') frame.contentWindow?.postMessage(request, '*')
    else if (data.type === 'sent') resolve(data.response)
  }
  window.addEventListener('message', listen)
  const timer = setTimeout(() => resolve({ error: 'There was no response within a minute.' }), TIMEOUT_MS)
  document.body.append(frame)
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    window.removeEventListener('message', listen)
    frame.remove()
  }
}
