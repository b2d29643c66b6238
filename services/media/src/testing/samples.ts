import { crc32, deflateSync } from 'node:zlib'

const chunk = (type: string, data: Uint8Array) => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

/** A black PNG with one bit per pixel, padded to `bytes` bytes with an ancillary chunk. */
export const png = (width: number, height: number, bytes = 0) => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 1
  const start = Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height))),
  ])
  const end = chunk('IEND', Buffer.alloc(0))
  const filling = bytes - start.length - end.length - 12
  return Buffer.concat(filling >= 0 ? [start, chunk('fiLl', Buffer.alloc(filling)), end] : [start, end])
}

export const svg = (attributes: string, inside = '') =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${inside}</svg>`)

/** A progressive JPEG of one pixel. */
export const jpeg = Buffer.from(
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
  'base64',
)

export const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')

/** Two frames of one pixel. */
export const animatedGif = Buffer.concat([
  gif.subarray(0, 19),
  gif.subarray(19, -1),
  gif.subarray(19, -1),
  Buffer.from(';'),
])

const riff = (chunkType: string, data: Buffer) => {
  const [size, length] = [Buffer.alloc(4), Buffer.alloc(4)]
  size.writeUInt32LE(data.length + 12)
  length.writeUInt32LE(data.length)
  return Buffer.concat([Buffer.from('RIFF'), size, Buffer.from(`WEBP${chunkType}`), length, data])
}

export const lossyWebp = Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64')
/** 500 by 300 pixels, encoded minus one in 14 bits each after the signature. */
export const losslessWebp = riff(
  'VP8L',
  Buffer.from([0x2f, 0xf3, 0xc1, 0x4a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00]),
)
/** A canvas of 1000 by 600 pixels. */
export const extendedWebp = riff('VP8X', Buffer.from([0, 0, 0, 0, 0xe7, 0x03, 0, 0x57, 0x02, 0]))
