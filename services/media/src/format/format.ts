import type { ImageRecord } from '@gantry/contracts'
import { Refusal } from '@gantry/event-sourcing'
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

/** Only the first bytes decide, and no two formats share them: a file of two formats counts as the one it begins as. */
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
 * Tells what an image is, by its content alone. No pixel is decoded: what a header says is believed once it is sound.
 * @throws Refusal image-type-unsupported, image-unreadable, image-too-large (over 40 megapixels)
 */
export function formatOf(file: Buffer): Format {
  if (file.length === 0) throw new Refusal('image-unreadable', { detail: 'the file is empty' })
  const format = readFormat(file)
  if (!format) throw new Refusal('image-type-unsupported')
  const { width, height } = format
  if (width < 1 || height < 1) throw new Refusal('image-unreadable', { detail: 'the image has no pixels' })
  if (width * height > MAX_PIXELS) {
    throw new Refusal('image-too-large', {
      detail: `the image has ${width} by ${height} pixels, and 40 megapixels are the most`,
    })
  }
  return format
}

function readFormat(file: Buffer): Format | undefined {
  try {
    const raster = RASTER.find(({ begins }) => begins(file))
    if (raster) return { contentType: raster.contentType, ...raster.size(file) }
    const size = svgSize(file)
    return size && { contentType: 'image/svg+xml', ...size }
  } catch (error) {
    if (error instanceof Unreadable)
      throw new Refusal('image-unreadable', { detail: `the file ${error.message}` })
    // A read past the last byte.
    if (error instanceof RangeError)
      throw new Refusal('image-unreadable', { detail: 'the file ends too early' })
    throw error
  }
}
