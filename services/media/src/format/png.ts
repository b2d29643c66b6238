import { crc32 } from 'node:zlib'
import type { Size } from './size.ts'
import { Unreadable } from './unreadable.ts'

/** PNG specification, "Datastream structure": the signature, then the image header and its checksum. */
export function pngSize(file: Buffer): Size {
  const header = file.subarray(12, 29)
  if (file.readUInt32BE(8) !== 13 || header.toString('latin1', 0, 4) !== 'IHDR') {
    throw new Unreadable('does not begin with the header of a PNG')
  }
  if (crc32(header) !== file.readUInt32BE(29)) throw new Unreadable('has a PNG header with a wrong checksum')
  return { width: file.readUInt32BE(16), height: file.readUInt32BE(20) }
}
