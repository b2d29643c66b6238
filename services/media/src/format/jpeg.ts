import type { Size } from './size.ts'
import { Unreadable } from './unreadable.ts'

/** ITU-T T.81 table B.1: SOF0 to SOF15, without DHT, JPG and DAC, which are in the same range. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
const SCAN = 0xda

/** ITU-T T.81 §B.1.1: a sequence of marker segments. The first frame header has the size. */
export function jpegSize(file: Buffer): Size {
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
