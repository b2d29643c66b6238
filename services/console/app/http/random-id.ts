const HEX = 16

/** A random UUID. `crypto.randomUUID` is absent on pages that are served over HTTP without TLS. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  const digits = [...bytes].map((byte, index) => versioned(byte, index).toString(HEX).padStart(2, '0'))
  return [4, 2, 2, 2, 6].map(length => digits.splice(0, length).join('')).join('-')
}

/** Sets the bits of version and variant (RFC 9562 §5.4). */
function versioned(byte: number, index: number): number {
  if (index === 6) return (byte & 0x0f) | 0x40
  return index === 8 ? (byte & 0x3f) | 0x80 : byte
}
