import { type ImageRecord, Refusal } from '@gantry/contracts'
import { gifSize } from './gif.ts'
import { jpegSize } from './jpeg.ts'
import { pngSize } from './png.ts'
import type { Size } from './size.ts'
import { svgSize } from './svg.ts'
import { Unreadable } from './unreadable.ts'
import { webpSize } from './webp.ts'

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
 * The same by the first bytes of a larger file, where they are enough.
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
