/** Headers by name in lower case. */
export type RecordedHeaders = Readonly<Record<string, string>>

const MASK = '***'
/** Names of headers whose values are or contain credentials. */
const SECRET = /auth|cookie|token|secret|sign|sig$|key|jwt|csrf|xsrf|pass|pwd|credential|session|sid$/
/** Names of headers whose values are or contain URLs, also relative ones. Their queries and fragments can be credentials. */
const URL_VALUED = /location|link|refresh|referer|ur[il]$/
/** Other names, which the syntax of HTTP allows, cannot be names of fields in every store. */
const NAME = /^[a-z\d][\w-]*$/
const VALUE_LIMIT = 256
/** Maximum number of characters of all names and values. */
const TOTAL_LIMIT = 2_048

/** The headers of a request or response for the delivery record: without credentials, and of bounded size. */
export function recordedHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): RecordedHeaders {
  const recorded: Record<string, string> = {}
  let length = 0
  for (const [given, values] of Object.entries(headers)) {
    const name = given.toLowerCase()
    if (values === undefined || !NAME.test(name)) continue
    const value = SECRET.test(name) ? MASK : cut(recordedValue(name, [values].flat().join(', ')))
    length += name.length + value.length
    if (length > TOTAL_LIMIT) break
    recorded[name] = value
  }
  return recorded
}

const recordedValue = (name: string, value: string) =>
  URL_VALUED.test(name) || value.includes('://') ? withoutCredentials(value) : value

/** A URL, or text with URLs, up to the first query or fragment, and without user and password. */
export const withoutCredentials = (url: string) =>
  url.replace(/\/\/[^/\s]*@/g, `//${MASK}@`).replace(/[?#].*/s, '…')

const cut = (value: string) => (value.length > VALUE_LIMIT ? `${value.slice(0, VALUE_LIMIT - 1)}…` : value)
