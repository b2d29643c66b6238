/** A bucket, and the prefix of the keys in it, which neither begins nor ends with a slash. */
export interface S3Location {
  bucket: string
  prefix: string
}

/**
 * Parses s3://bucket/prefix.
 * @returns undefined for another URL, and for one with credentials, a query or a fragment
 */
export function s3Location(text: string): S3Location | undefined {
  const url = URL.parse(text)
  if (url?.protocol !== 's3:' || url.host === '') return undefined
  if (url.username || url.password || url.search || url.hash) return undefined
  try {
    return { bucket: url.host, prefix: decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '') }
  } catch {
    return undefined
  }
}
