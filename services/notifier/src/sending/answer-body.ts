import {
  type BrotliOptions,
  createBrotliDecompress,
  createInflate,
  createUnzip,
  type ZlibOptions,
} from 'node:zlib'

/** Bytes of an answer that are read, and that are kept after decompression. */
export const BODY_LIMIT = 16_384
/** Bytes of UTF-8 that go into the record. */
const TEXT_LIMIT = 4_096

/**
 * What the record shows of an answer's body: the beginning, decompressed, as well-formed text.
 * @param received at most BODY_LIMIT bytes, which may end anywhere
 * @param encoding the Content-Encoding; a body in one that is not known is not shown
 * @returns null when there is nothing to show
 */
export async function bodyText(received: Buffer, encoding: string | undefined): Promise<string | null> {
  const plain = await decoded(received, encoding?.trim().toLowerCase() ?? '')
  if (!plain || plain.length === 0) return null
  return cutText(plain)
}

/** At most so many bytes of text; a character that is cut in two is left out, what is not UTF-8 is replaced. */
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

/** Inflates until the limit is reached or the input ends, however much more it would become. */
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
    // Cut off or not what it says it is: what came out so far is what there is to see.
  }
  return Buffer.concat(parts).subarray(0, BODY_LIMIT)
}
