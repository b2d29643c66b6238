import { crc32 } from 'node:zlib'
import { type ImageRecord, Refusal } from '@gantry/contracts'
import { type Size, Unreadable } from './size.ts'
import { svgSize } from './svg.ts'
import { webpSize } from './webp.ts'

/** PNG specification, "Datastream structure": the signature, then the image header and its checksum. */
function pngSize(file: Buffer): Size {
  const header = file.subarray(12, 29)
  if (file.readUInt32BE(8) !== 13 || header.toString('latin1', 0, 4) !== 'IHDR') {
    throw new Unreadable('does not begin with the header of a PNG')
  }
  if (crc32(header) !== file.readUInt32BE(29)) throw new Unreadable('has a PNG header with a wrong checksum')
  return { width: file.readUInt32BE(16), height: file.readUInt32BE(20) }
}

/** ITU-T T.81 table B.1: SOF0 to SOF15, without DHT, JPG and DAC, which are in the same range. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
const SCAN = 0xda

/** ITU-T T.81 §B.1.1: a sequence of marker segments. The first frame header has the size. */
function jpegSize(file: Buffer): Size {
  for (let at = 2; ; ) {
    if (file.readUInt8(at) !== 0xff) throw new Unreadable('has no JPEG marker where one is required')
    while (file.readUInt8(at + 1) === 0xff) at++
    const marker = file.readUInt8(at + 1)
    const length = file.readUInt16BE(at + 2)
    if (marker < 0xc0 || marker === SCAN || length < 2) throw new Unreadable('has no JPEG frame header')
    if (isFrame(marker)) return { height: file.readUInt16BE(at + 5), width: file.readUInt16BE(at + 7) }
    at += 2 + length
  }
}

/** GIF89a §18: the size of the logical screen, an optional color table, then the first block. */
function gifSize(file: Buffer): Size {
  if (!['GIF87a', 'GIF89a'].includes(file.toString('latin1', 0, 6))) {
    throw new Unreadable('is a GIF of an unknown version')
  }
  const packed = file.readUInt8(10)
  const colours = packed & 0x80 ? 2 << (packed & 7) : 0
  const block = file.readUInt8(13 + 3 * colours)
  if (block !== 0x21 && block !== 0x2c) throw new Unreadable('is a GIF without an image')
  return { width: file.readUInt16LE(6), height: file.readUInt16LE(8) }
}

export type Format = Pick<ImageRecord, 'contentType' | 'width' | 'height'>

const MAX_PIXELS = 40_000_000

const startsWith =
  (...signature: number[]) =>
  (file: Buffer) =>
    file.subarray(0, signature.length).equals(Buffer.from(signature))

/** Formats by their first bytes, which are unambiguous. A file that is valid in two formats has the one of its start. */
const RASTER: ReadonlyArray<{
  contentType: Format['contentType']
  begins(file: Buffer): boolean
  size(file: Buffer): Size
}> = [
  { contentType: 'image/png', begins: startsWith(0x89, 0x50, 0x4e, 0x47), size: pngSize },
  { contentType: 'image/jpeg', begins: startsWith(0xff, 0xd8, 0xff), size: jpegSize },
  { contentType: 'image/gif', begins: startsWith(0x47, 0x49, 0x46, 0x38), size: gifSize },
  {
    contentType: 'image/webp',
    begins: file => startsWith(0x52, 0x49, 0x46, 0x46)(file) && file.toString('latin1', 8, 12) === 'WEBP',
    size: webpSize,
  },
]

/**
 * Detects the content type and the size in pixels of an image from its content alone. Reads the header only and decodes no
 * pixels.
 * @throws Refusal image-type-unsupported, image-unreadable, image-too-large (over 40 megapixels)
 */
export function formatOf(file: Buffer): Format {
  if (file.length === 0) throw unreadable('the file is empty')
  const format = readFormat(file)
  if (!format) throw new Refusal('image-type-unsupported')
  return withinBounds(format)
}

function withinBounds(format: Format): Format {
  const { width, height } = format
  if (width < 1 || height < 1) throw unreadable('the image has no pixels')
  if (width * height > MAX_PIXELS) {
    throw new Refusal('image-too-large', {
      detail: `the image has ${width} by ${height} pixels; the maximum is 40 megapixels`,
    })
  }
  return format
}

/**
 * Tells the format by the first bytes of a larger file, where they are enough.
 * @returns undefined when the whole file is needed
 * @throws Refusal as `formatOf` would for the whole file
 */
export function formatOfStart(start: Buffer): Format | undefined {
  const raster = RASTER.find(({ begins }) => begins(start))
  if (!raster) {
    if (!isText(start)) throw new Refusal('image-type-unsupported')
    return undefined
  }
  // It tells the length of the file.
  if (raster.contentType === 'image/webp') return undefined
  try {
    return withinBounds({ contentType: raster.contentType, ...raster.size(start) })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw refusalOf(error)
  }
}

function isText(start: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true })
    return true
  } catch {
    return false
  }
}

function readFormat(file: Buffer): Format | undefined {
  try {
    const raster = RASTER.find(({ begins }) => begins(file))
    if (raster) return { contentType: raster.contentType, ...raster.size(file) }
    const size = svgSize(file)
    return size && { contentType: 'image/svg+xml', ...size }
  } catch (error) {
    throw refusalOf(error)
  }
}

function refusalOf(error: unknown): unknown {
  if (error instanceof Unreadable) return unreadable(`the file ${error.message}`)
  // A read past the last byte.
  if (error instanceof RangeError) return unreadable('the file ends too early')
  return error
}

const unreadable = (detail: string) => new Refusal('image-unreadable', { detail })
