import type { IncomingHttpHeaders } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Refusal } from '@gantry/contracts'

const decompressed = promisify(gunzip)

/** Whether a body is compressed. @throws Refusal unsupported-media-type for another encoding than gzip */
export function isGzip({ 'content-encoding': encoding = 'identity' }: IncomingHttpHeaders): boolean {
  const named = encoding.toLowerCase()
  if (named !== 'identity' && named !== 'gzip')
    throw new Refusal('unsupported-media-type', { detail: 'Content-Encoding must be gzip or absent' })
  return named === 'gzip'
}

/** The parameter `charset` of a media type. */
export const charsetOf = (mediaType = ''): string | undefined =>
  /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(mediaType)?.[1]

/**
 * Decompresses a body.
 * @param tooLarge the refusal of a body that has more than `limit` bytes
 * @throws Refusal malformed-request, or `tooLarge`
 */
export async function gunzipped(bytes: Uint8Array, limit: number, tooLarge: () => Refusal): Promise<Buffer> {
  try {
    return await decompressed(bytes, { maxOutputLength: limit })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge()
    throw new Refusal('malformed-request', { detail: 'the body is not gzip' })
  }
}
