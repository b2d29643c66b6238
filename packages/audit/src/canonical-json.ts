import canonicalize from 'canonicalize'

/**
 * The canonical JSON of a value (RFC 8785). Lone surrogates, which RFC 8785 refuses, become U+FFFD first, because
 * free-form JSON may contain them.
 */
export function canonicalJson(value: object): string {
  try {
    return canonicalize(value) as string
  } catch {
    return canonicalize(JSON.parse(JSON.stringify(value), wellFormed)) as string
  }
}

/** A reviver of JSON.parse. */
function wellFormed(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.toWellFormed(), item]))
}
