import type { Size } from './size.ts'
import { Unreadable } from './unreadable.ts'

/** GIF89a §18: the size of the logical screen, an optional color table, then the first block. */
export function gifSize(file: Buffer): Size {
  if (!['GIF87a', 'GIF89a'].includes(file.toString('latin1', 0, 6))) {
    throw new Unreadable('is a GIF of an unknown version')
  }
  const packed = file.readUInt8(10)
  const colours = packed & 0x80 ? 2 << (packed & 7) : 0
  const block = file.readUInt8(13 + 3 * colours)
  if (block !== 0x21 && block !== 0x2c) throw new Unreadable('is a GIF without an image')
  return { width: file.readUInt16LE(6), height: file.readUInt16LE(8) }
}
