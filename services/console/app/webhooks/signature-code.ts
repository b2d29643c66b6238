/** A function in each language that checks a request with the secret, as docs/webhooks.md explains. */
export const SIGNATURE_CODE: Readonly<Record<string, string>> = {
  JavaScript: `import { createHmac, timingSafeEqual } from 'node:crypto'

/** @param body the bytes of the request, as received */
export function isGenuine(headers, body, secret) {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  // Refuses recorded requests that are sent again later.
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false
  const expected = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\`).update(body).digest()
  // After a rotation there are two signatures. One that matches is enough.
  return (headers['webhook-signature'] ?? '').split(' ').some(each => {
    const [version, signature = ''] = each.split(',')
    const given = Buffer.from(signature, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}
`,
  Python: `import base64, hashlib, hmac, time


def is_genuine(headers, body, secret):
    """body has the bytes of the request, as received."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    # Refuses recorded requests that are sent again later.
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # After a rotation there are two signatures. One that matches is enough.
    given = headers.get("webhook-signature", "").encode()
    return any(hmac.compare_digest(each, expected) for each in given.split(b" "))
`,
}
