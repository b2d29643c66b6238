import type { DocumentRequest, DocumentResponse } from '../parts/frame-messages.ts'

/** Sends one request. The policy of this page allows the host alone that the person has confirmed. */
async function send({ method, url, headers, body }: DocumentRequest): Promise<DocumentResponse> {
  try {
    const response = await fetch(url, {
      ...{ method, headers, body, credentials: 'omit', cache: 'no-store', referrerPolicy: 'no-referrer' },
    })
    const { status, statusText } = response
    return { status, statusText, headers: [...response.headers], body: await response.arrayBuffer() }
  } catch {
    return { error: 'There is no response, or the host does not allow pages to read it (CORS).' }
  }
}

window.addEventListener('message', async ({ source, origin, data }: MessageEvent<DocumentRequest>) => {
  if (source !== window.parent || origin !== window.location.origin) return
  window.parent.postMessage({ type: 'sent', response: await send(data) }, '*')
})

window.parent.postMessage({ type: 'ready' }, '*')
