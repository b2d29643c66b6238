import { type Size, Unreadable } from './size.ts'

/** RFC 9649 §2: a RIFF container. Its first chunk has the size, in one of three encodings. */
export function webpSize(file: Buffer): Size {
  if (file.readUInt32LE(4) + 8 > file.length) throw new Unreadable('is shorter than its WebP header says')
  switch (file.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return lossy(file)
    case 'VP8L':
      return lossless(file)
    case 'VP8X':
      return { width: file.readUIntLE(24, 3) + 1, height: file.readUIntLE(27, 3) + 1 }
    default:
      throw new Unreadable('is a WebP without an image')
  }
}

/** RFC 6386 §9.1: a key frame. */
function lossy(file: Buffer): Size {
  if (file.readUInt8(20) & 1 || file.readUIntBE(23, 3) !== 0x9d012a) {
    throw new Unreadable('is a WebP that does not begin with a key frame')
  }
  return { width: file.readUInt16LE(26) & 0x3fff, height: file.readUInt16LE(28) & 0x3fff }
}

/** RFC 9649 §3.4: a signature, then 14 bits for each side. */
function lossless(file: Buffer): Size {
  if (file.readUInt8(20) !== 0x2f) throw new Unreadable('is a WebP without the signature of a lossless image')
  const bits = file.readUInt32LE(21)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}
