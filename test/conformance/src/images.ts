import { crc32, deflateSync } from 'node:zlib'

const chunk = (type: string, data: Uint8Array) => {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

/** A black PNG with one bit per pixel (PNG specification, "Datastream structure"), padded to `bytes` by another chunk. */
export const png = (width: number, height: number, bytes = 0) => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 1
  const start = Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
  ])
  const pixels = chunk('IDAT', deflateSync(Buffer.alloc((Math.ceil(width / 8) + 1) * height)))
  const end = chunk('IEND', Buffer.alloc(0))
  const filling = bytes - start.length - pixels.length - end.length - 12
  return Buffer.concat([start, ...(filling >= 0 ? [chunk('fiLl', Buffer.alloc(filling))] : []), pixels, end])
}

export const svg = (width: number, height: number, inside = '') =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${inside}</svg>`)

/** Images of one pixel. */
export const jpeg = Buffer.from(
  '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
  'base64',
)
export const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
export const webp = Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64')

/** The multipart form of an upload. Name, file name and type of the part have no effect on the service. */
export const form = (
  file: Uint8Array,
  { part = 'file', filename = 'image', type = 'application/octet-stream' } = {},
) => {
  const data = new FormData()
  data.append(part, new Blob([new Uint8Array(file)], { type }), filename)
  return data
}
