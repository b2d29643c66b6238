import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createApi, listApis, readApi } from '../src/apis.ts'
import type { Body } from '../src/client.ts'
import { admin } from '../src/gantry.ts'
import { form, gif, jpeg, png, svg, webp } from '../src/images.ts'
import type { Image } from '../src/records.ts'

const MEBIBYTE = 1024 * 1024
const upload = (id: string, body: Body) => admin.put(`/apis/${id}/image`, undefined, { body })
const download = (id: string, headers: Record<string, string> = {}) =>
  admin.get(`/apis/${id}/image`, {}, { headers })
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

test.for<[string, Buffer, number, number]>([
  ['image/png', png(3, 2), 3, 2],
  ['image/jpeg', jpeg, 1, 1],
  ['image/gif', gif, 1, 1],
  ['image/webp', webp, 1, 1],
  ['image/svg+xml', svg(30, 20, '<circle r="5"/>'), 30, 20],
])('an image of type %s is detected by its content, stored, and returned unchanged', async expected => {
  const [contentType, bytes, width, height] = expected
  const { id } = await createApi()
  ;(await admin.head(`/apis/${id}/image`)).is(404)
  const stored = (await upload(id, form(bytes, { filename: 'x.txt', type: 'text/plain' }))).as<Image>(200)
  expect(stored).toEqual({ contentType, size: bytes.length, width, height, sha256: sha256(bytes) })

  const [answer, head] = [(await download(id)).is(200), (await admin.head(`/apis/${id}/image`)).is(200)]
  expect(answer.bytes.equals(bytes)).toBe(true)
  expect(head.bytes).toHaveLength(0)
  for (const { headers, etag } of [answer, head]) {
    expect(headers.get('content-type')?.split(';')[0]).toBe(contentType)
    expect(headers.get('content-length')).toBe(String(bytes.length))
    expect(headers.get('cache-control')).toBeTruthy()
    expect(etag).toMatch(/^"[^"]+"$/)
  }
  expect(head.etag).toBe(answer.etag)
  expect((await download(id, { 'if-none-match': answer.etag })).is(304).bytes).toHaveLength(0)
  ;(await download(id, { 'if-none-match': '"another"' })).is(200)
})

test('hasImage is updated immediately in the record and in the list', async () => {
  const { id, name } = await createApi()
  const seen = async () => [(await readApi(id)).hasImage, (await listApis({ name })).content[0]?.hasImage]
  expect(await seen()).toEqual([false, false])
  ;(await upload(id, form(png(1, 1)))).is(200)
  expect(await seen()).toEqual([true, true])
  ;(await admin.delete(`/apis/${id}/image`)).is(204)
  expect(await seen()).toEqual([false, false])
})

test('a second image replaces the first, and a refused upload or form keeps it', async () => {
  const { id } = await createApi()
  ;(await upload(id, form(png(1, 1)))).is(200)
  const first = await download(id)
  ;(await upload(id, form(gif))).is(200)
  const second = (await download(id)).is(200)
  expect(second.bytes.equals(gif)).toBe(true)
  expect(second.etag).not.toBe(first.etag)
  ;(await upload(id, form(Buffer.from('not an image')))).refused(415)
  expect((await download(id)).bytes.equals(gif)).toBe(true)
  expect((await readApi(id)).hasImage).toBe(true)
})

test('an SVG is returned as sent, with headers that disable its scripts', async () => {
  const { id } = await createApi()
  const hostile = svg(10, 10, '<script>alert(1)</script><a href="javascript:alert(2)" onload="alert(3)"/>')
  const uploaded = (await upload(id, form(hostile))).is(200, 400, 415)
  if (uploaded.status !== 200) return
  const { headers } = (await download(id)).is(200)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toMatch(/sandbox|default-src 'none'|script-src 'none'/)
  expect(policy).not.toMatch(/unsafe-inline.*script|script-src[^;]*unsafe-inline|allow-scripts/)
})

describe.concurrent('the limits', () => {
  test('5 MiB are accepted, and no more', async () => {
    const { id } = await createApi()
    for (const size of [5 * MEBIBYTE + 1, 8 * MEBIBYTE])
      (await upload(id, form(png(10, 10, size)))).refused(413)
    expect((await readApi(id)).hasImage).toBe(false)
    const bytes = png(10, 10, 5 * MEBIBYTE)
    expect((await upload(id, form(bytes))).as<Image>(200).size).toBe(5 * MEBIBYTE)
    expect((await download(id)).bytes.equals(bytes)).toBe(true)
  })

  test('40 megapixels are accepted and one row more is refused', async () => {
    const { id } = await createApi()
    ;(await upload(id, form(png(8000, 5001)))).refused(413)
    expect((await upload(id, form(png(8000, 5000)))).as<Image>(200)).toMatchObject({
      width: 8000,
      height: 5000,
    })
  })

  test.for<[string, () => Buffer]>([
    ['text', () => Buffer.from('not an image at all')],
    ['HTML', () => Buffer.from('<!doctype html><html><body><svg/></body></html>')],
    ['XML that is not an SVG', () => Buffer.from('<?xml version="1.0"?><note>svg</note>')],
    ['BMP', () => Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)])],
    ['PDF', () => Buffer.from('%PDF-1.7\n%âãÏÓ\n')],
  ])('%s is refused, even if it is named like an image', async ([, bytes]) => {
    const { id } = await createApi()
    ;(await upload(id, form(bytes(), { filename: 'image.png', type: 'image/png' }))).refused(415)
    expect((await readApi(id)).hasImage).toBe(false)
    ;(await download(id)).refused(404)
  })

  test('a body that is not a form with the file as its only part is refused, and nothing is stored', async () => {
    const { id } = await createApi()
    ;(await upload(id, form(png(1, 1), { part: 'picture' }))).refused(400)
    ;(await upload(id, new FormData())).refused(400)
    const field = new FormData()
    field.append('file', 'text, not a file')
    ;(await upload(id, field)).refused(400)
    for (const second of ['file', 'thumbnail']) {
      const two = form(png(1, 1))
      two.append(second, new Blob([new Uint8Array(png(2, 2))]), 'second.png')
      ;(await upload(id, two)).refused(400)
    }
    ;(await admin.put(`/apis/${id}/image`, { file: 'x' })).refused(415)
    const noForm = (contentType: string) => {
      const options = { body: 'nothing like a form', headers: { 'content-type': contentType } }
      return admin.put(`/apis/${id}/image`, undefined, options)
    }
    ;(await noForm('multipart/form-data; boundary=edge')).refused(400)
    ;(await noForm('multipart/form-data')).is(400, 415)
    expect((await readApi(id)).hasImage).toBe(false)
  })
})

test('deleting the image answers 204, and then there is none', async () => {
  const { id } = await createApi()
  ;(await admin.delete(`/apis/${id}/image`)).refused(404)
  ;(await upload(id, form(png(1, 1)))).is(200)
  expect((await admin.delete(`/apis/${id}/image`)).is(204).bytes).toHaveLength(0)
  ;(await download(id)).refused(404)
  ;(await admin.delete(`/apis/${id}/image`)).refused(404)
})

test('an image is removed with its API', async () => {
  const { id } = await createApi()
  ;(await upload(id, form(png(1, 1)))).is(200)
  ;(await admin.delete(`/apis/${id}`)).is(204)
  ;(await download(id)).refused(404)
  ;(await upload(id, form(png(1, 1)))).refused(404)
})
