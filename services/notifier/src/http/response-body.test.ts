import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { BODY_LIMIT, bodyText, cutText } from './response-body.ts'

describe('the body of a response', () => {
  test.for<[string, (text: string) => Buffer]>([
    ['', text => Buffer.from(text)],
    ['identity', text => Buffer.from(text)],
    ['gzip', text => gzipSync(text)],
    ['X-GZIP', text => gzipSync(text)],
    ['deflate', text => deflateSync(text)],
    ['br', text => brotliCompressSync(text)],
  ])('in the encoding "%s" is read as text', async ([encoding, encode]) => {
    expect(await bodyText(encode('{"größe":1}'), encoding)).toBe('{"größe":1}')
  })

  test('in an unknown encoding is not shown', async () => {
    expect(await bodyText(Buffer.from('x'), 'zstd')).toBeNull()
    expect(await bodyText(gzipSync(gzipSync('x')), 'gzip, gzip')).toBeNull()
  })

  test('that is a decompression bomb is truncated', async () => {
    const text = Buffer.alloc(1_000_000, 97)
    for (const [encoding, bomb] of [
      ['gzip', gzipSync(text)],
      ['br', brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
    ] as const)
      expect(await bodyText(bomb.subarray(0, BODY_LIMIT), encoding)).toBe('a'.repeat(4_096))
  })

  test('that is truncated or not in its declared encoding shows the decoded part', async () => {
    const text = Array.from({ length: 3_000 }, (_, n) => n).join()
    const cut = gzipSync(text).subarray(0, 2_000)
    expect(text.startsWith((await bodyText(cut, 'gzip')) ?? '?')).toBe(true)
    expect((await bodyText(cut, 'gzip'))?.length).toBeGreaterThan(100)
    expect(await bodyText(Buffer.from('plain'), 'gzip')).toBeNull()
  })

  test('that is empty is null', async () => {
    expect(await bodyText(Buffer.alloc(0), undefined)).toBeNull()
    expect(await bodyText(gzipSync(''), 'gzip')).toBeNull()
  })
})

describe('truncated text', () => {
  test('ends with a complete character', () => {
    expect(cutText(Buffer.from('aé\u{1f680}'), 2)).toBe('a')
    expect(cutText(Buffer.from('aé\u{1f680}'), 3)).toBe('aé')
    expect(cutText(Buffer.from('aé\u{1f680}'), 6)).toBe('aé')
    expect(cutText(Buffer.from('aé\u{1f680}'), 7)).toBe('aé\u{1f680}')
  })
  test('is well-formed and without NUL for any bytes', () => {
    const text = cutText(Buffer.from([0xff, 0x00, 0xc3, 0x28, 0x61]))
    expect(text.isWellFormed()).toBe(true)
    expect(text).not.toContain('\0')
  })
})
