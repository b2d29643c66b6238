import {
  type BrotliOptions,
  createBrotliDecompress,
  createInflate,
  createUnzip,
  type ZlibOptions,
} from 'node:zlib'

/** Maximum number of bytes that are read of a response, and that are kept after decompression. */
export const BODY_LIMIT = 16_384
/** Maximum number of UTF-8 bytes in the delivery record. */
const TEXT_LIMIT = 4_096

/**
 * The part of a response body for the delivery record: its beginning, decompressed, as well-formed text.
 * @param received at most BODY_LIMIT bytes, which may end anywhere
 * @param encoding the Content-Encoding; a body in an unknown encoding is not shown
 * @returns null when there is nothing to show
 */
export async function bodyText(received: Buffer, encoding: string | undefined): Promise<string | null> {
  const plain = await decoded(received, encoding?.trim().toLowerCase() ?? '')
  if (!plain || plain.length === 0) return null
  return cutText(plain)
}

/**
 * Decodes at most `limit` bytes of UTF-8. A character that the limit splits is left out, and invalid bytes are replaced.
 */
export function cutText(bytes: Uint8Array, limit = TEXT_LIMIT): string {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, limit), {
    stream: bytes.length > limit,
  })
  return text.replaceAll('\0', '\ufffd')
}

async function decoded(received: Buffer, encoding: string): Promise<Buffer | undefined> {
  switch (encoding) {
    case '':
    case 'identity':
      return received
    case 'gzip':
    case 'x-gzip':
      return decompress(createUnzip(TRUNCATED), received)
    case 'deflate':
      return decompress(createInflate(TRUNCATED), received)
    case 'br':
      return decompress(createBrotliDecompress(BROTLI), received)
    default:
      return undefined
  }
}

const CHUNK = 16_384
const TRUNCATED: ZlibOptions = { chunkSize: CHUNK }
const BROTLI: BrotliOptions = { chunkSize: CHUNK }

/** Decompresses until the limit is reached or the input ends, so that a decompression bomb is harmless. */
async function decompress(
  inflate: ReturnType<typeof createUnzip> | ReturnType<typeof createBrotliDecompress>,
  received: Buffer,
): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  inflate.end(received)
  try {
    for await (const part of inflate as AsyncIterable<Buffer>) {
      parts.push(part)
      size += part.length
      if (size >= BODY_LIMIT) break
    }
  } catch {
    // A truncated or invalid body: the bytes that were decompressed so far are kept.
  }
  return Buffer.concat(parts).subarray(0, BODY_LIMIT)
}
