import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { folderBlobStore } from '@gantry/embedded'
import { BodyMemory } from '@gantry/service-runtime'
import type { BlobStore } from '@gantry/stores'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { storedBytes } from '../bytes/bytes.ts'
import { lossyWebp, png, svg } from '../testing/samples.ts'
import { ImageUpload } from './image.upload.ts'

const MEBIBYTE = 1_048_576

let folder: string
let blobs: BlobStore
let memory: BodyMemory
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-upload-'))
  blobs = folderBlobStore({ path: folder })
  memory = new BodyMemory(32 * MEBIBYTE)
})
afterEach(() => rm(folder, { recursive: true }))

const begin = () => new ImageUpload(storedBytes(blobs), memory.countFor('ada'))
const chunksOf = (image: Buffer, size: number) =>
  Array.from({ length: Math.ceil(image.length / size) }, (_, at) =>
    image.subarray(at * size, (at + 1) * size),
  )
const upload = async (image: Buffer, chunk = 10_000) => {
  const incoming = begin()
  try {
    for (const part of chunksOf(image, chunk)) await incoming.write(part)
    return await incoming.store()
  } finally {
    await incoming.discard()
  }
}
const sha256 = (image: Buffer) => createHash('sha256').update(image).digest('hex')
const drafts = async () => (await readdir(join(folder, '.incomplete')).catch(() => [])).length
const filled = (start: Buffer, length: number) =>
  Buffer.concat([start, Buffer.alloc(length - start.length, 7)])

/** A WebP whose length equals the one in its header. */
const webp = (length: number) => {
  const file = filled(lossyWebp, length)
  file.writeUInt32LE(length - 8, 4)
  return file
}
const lateJpeg = Buffer.concat([
  Buffer.from([0xff, 0xd8]),
  ...Array.from({ length: 3 }, () =>
    Buffer.concat([Buffer.from([0xff, 0xe1, 0xff, 0xff]), Buffer.alloc(65_533)]),
  ),
  Buffer.from([0xff, 0xc0, 0x00, 0x0b, 0x08, 0x01, 0xe0, 0x02, 0x80, 0x01, 0x01, 0x11, 0x00]),
])
const comment = (length: number) =>
  Buffer.from(`<svg width="30" height="20"><!--${'ä'.repeat(length / 2)}--></svg>`)

describe('an image is stored unchanged', () => {
  test.for<[string, Buffer, object]>([
    ['a small PNG', png(300, 200), { contentType: 'image/png', width: 300, height: 200 }],
    ['a PNG of one piece', filled(png(3, 2), 65_536), { contentType: 'image/png', width: 3, height: 2 }],
    ['a PNG of a byte more', filled(png(3, 2), 65_537), { contentType: 'image/png', width: 3, height: 2 }],
    ['a PNG of 5 MiB', filled(png(3, 2), 5 * MEBIBYTE), { contentType: 'image/png', width: 3, height: 2 }],
    ['a large WebP', webp(200_000), { contentType: 'image/webp', width: 1, height: 1 }],
    ['a JPEG with long metadata', lateJpeg, { contentType: 'image/jpeg', width: 640, height: 480 }],
    ['a large SVG', comment(300_000), { contentType: 'image/svg+xml', width: 30, height: 20 }],
  ])('%s', async ([, image, format]) => {
    for (const chunk of [10_001, image.length]) {
      const record = await upload(image, chunk)
      expect(record).toEqual({ ...format, size: image.length, sha256: sha256(image) })
      expect(Buffer.from((await blobs.get(record.sha256)) ?? []).equals(image)).toBe(true)
    }
    expect(await drafts()).toBe(0)
  })
})

describe('a refused image leaves no stored bytes', () => {
  test.for<[string, Buffer, string]>([
    ['nothing', Buffer.alloc(0), 'image-unreadable'],
    ['text', Buffer.from('text'), 'image-type-unsupported'],
    ['much text', Buffer.alloc(200_000, 'text'), 'image-type-unsupported'],
    ['a WebP that is shorter than it says', webp(200_000).subarray(0, 150_000), 'image-unreadable'],
    ['a large JPEG without a frame', lateJpeg.subarray(0, -13), 'image-unreadable'],
    ['an SVG that does not end', comment(300_000).subarray(0, -6), 'image-unreadable'],
    ['too many pixels', svg('width="8000" height="5001"'), 'image-too-large'],
  ])('%s', async ([, file, code]) => {
    await expect(upload(file)).rejects.toMatchObject({ code })
    expect(await drafts()).toBe(0)
    expect((await readdir(folder)).filter(name => name !== '.incomplete')).toEqual([])
  })

  test.for<[string, Buffer, string]>([
    ['no image', filled(Buffer.from('%PDF-1.7\n\xff', 'latin1'), 70_000), 'image-type-unsupported'],
    ['a damaged header', filled(Buffer.from('GIF88a'), 70_000), 'image-unreadable'],
    ['too many pixels', filled(png(8_000, 5_001), 70_000), 'image-too-large'],
  ])('%s is refused after its first piece', async ([, file, code]) => {
    await expect(begin().write(file)).rejects.toMatchObject({ code })
    expect(await drafts()).toBe(0)
  })
})

test('only a piece of a large image is in memory', async () => {
  const incoming = begin()
  let most = 0
  for (const chunk of chunksOf(filled(png(3, 2), 5 * MEBIBYTE), 10_000)) {
    await incoming.write(chunk)
    most = Math.max(most, memory.bytes)
  }
  await incoming.store()
  expect(Math.max(most, memory.bytes)).toBeLessThanOrEqual(2 * 65_536)
})

test('an SVG is in memory as a whole only while it is checked', async () => {
  const incoming = begin()
  await incoming.write(comment(300_000))
  const before = memory.bytes
  const other = memory.countFor('ada')
  other.add(8 * MEBIBYTE - before - 100_000)
  await expect(incoming.store()).rejects.toMatchObject({ code: 'too-many-requests' })
  await incoming.discard()
  other.release()
  expect((await upload(comment(300_000))).contentType).toBe('image/svg+xml')
  expect(memory.bytes).toBeLessThan(300_000)
})

test('an upload that is discarded during a write leaves no stored bytes', async () => {
  const incoming = begin()
  await incoming.write(filled(png(3, 2), 100_000))
  expect(await drafts()).toBe(1)
  const writing = incoming.write(Buffer.alloc(500_000)).catch(error => (error as Error).message)
  await incoming.discard()
  expect(await writing).toBe('the upload was discarded')
  expect(await drafts()).toBe(0)
})
