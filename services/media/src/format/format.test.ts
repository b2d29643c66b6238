import { Refusal } from '@gantry/contracts'
import { describe, expect, test } from 'vitest'
import {
  animatedGif,
  extendedWebp,
  gif,
  jpeg,
  losslessWebp,
  lossyWebp,
  png,
  svg,
} from '../testing/samples.ts'
import { formatOf } from './format.ts'

const MEBIBYTE = 1_048_576

/** The start of a JPEG of 640 by 480 pixels: these segments, then its frame header. */
const jpegWith = (...segments: Buffer[]) =>
  Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    ...segments,
    Buffer.from([0xff, 0xc0, 0x00, 0x0b, 0x08, 0x01, 0xe0, 0x02, 0x80, 0x01, 0x01, 0x11, 0x00]),
  ])

const refusal = (file: Buffer) => {
  try {
    return formatOf(file)
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

describe('the format and size of an image are detected from its content', () => {
  test.for<[string, Buffer, string, number, number]>([
    ['a PNG', png(300, 200), 'image/png', 300, 200],
    ['a JPEG', jpeg, 'image/jpeg', 1, 1],
    [
      'a JPEG with metadata',
      jpegWith(Buffer.from([0xff, 0xe1, 0x00, 0x04, 0xff, 0xc0])),
      'image/jpeg',
      640,
      480,
    ],
    ['a JPEG with fill bytes', jpegWith(Buffer.from([0xff, 0xff, 0xff])), 'image/jpeg', 640, 480],
    ['a GIF', gif, 'image/gif', 1, 1],
    ['an animated GIF', animatedGif, 'image/gif', 1, 1],
    ['a lossy WebP', lossyWebp, 'image/webp', 1, 1],
    ['a lossless WebP', losslessWebp, 'image/webp', 500, 300],
    ['an extended WebP', extendedWebp, 'image/webp', 1000, 600],
    ['an SVG', svg('width="30" height="20"'), 'image/svg+xml', 30, 20],
  ])('%s', ([, file, contentType, width, height]) => {
    expect(formatOf(file)).toEqual({ contentType, width, height })
  })

  test('by the start of a file that is valid in two formats', () => {
    const page = Buffer.from('<html><script>alert(1)</script></html>')
    expect(formatOf(Buffer.concat([gif, page])).contentType).toBe('image/gif')
    expect(refusal(Buffer.concat([page, gif]))).toBe('image-type-unsupported')
    expect(refusal(Buffer.concat([Buffer.from('%PDF-1.7\n'), png(1, 1)]))).toBe('image-type-unsupported')
  })
})

test.for<[string, Buffer]>([
  ['text', Buffer.from('an image, honestly')],
  ['BMP', Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)])],
  ['TIFF', Buffer.concat([Buffer.from('II*\0'), Buffer.alloc(60)])],
  ['RIFF of sound', Buffer.from('RIFF\x24\0\0\0WAVEfmt ', 'latin1')],
  ['HTML with an SVG', Buffer.from('<!DOCTYPE html><html><body><svg/></body></html>')],
  ['HTML in lower case', Buffer.from('<!doctype html><svg/>')],
  ['other XML', Buffer.from('<?xml version="1.0"?><note>svg</note>')],
  ['zeros', Buffer.alloc(5 * MEBIBYTE)],
])('%s is refused as an unsupported type', ([, file]) => {
  expect(refusal(file)).toBe('image-type-unsupported')
})

describe('a damaged header is refused', () => {
  test.for<[string, Buffer, number]>([
    ['PNG', png(3, 2), 33],
    ['JPEG', jpegWith(Buffer.from([0xff, 0xe0, 0x00, 0x04, 0x41, 0x42])), 17],
    ['GIF', gif, 20],
    ['WebP', lossyWebp, 42],
    ['WebP', losslessWebp, 25],
    ['WebP', extendedWebp, 30],
  ])('%s, cut off anywhere in it', ([, file, header]) => {
    for (let length = 12; length < header; length++) {
      // In its own memory and as a part of a larger buffer, since bytes after the end of the file must not be read.
      expect(refusal(Buffer.from(new Uint8Array(file.subarray(0, length)).buffer))).toBe('image-unreadable')
      expect(refusal(file.subarray(0, length))).toBe('image-unreadable')
    }
  })

  const changed = (file: Buffer, at: number, ...bytes: number[]) => {
    const copy = Buffer.from(file)
    copy.set(bytes, at)
    return copy
  }
  test.for<[string, Buffer]>([
    ['an empty file', Buffer.alloc(0)],
    ['a PNG whose header has a wrong checksum', changed(png(3, 2), 19, 4)],
    ['a PNG that begins with another chunk', changed(png(3, 2), 12, 0x74, 0x45, 0x58, 0x74)],
    ['a PNG without pixels', png(0, 2)],
    ['a GIF without pixels', changed(gif, 6, 0, 0)],
    ['a GIF of an unknown version', changed(gif, 4, 0x38)],
    ['a GIF that ends before an image', Buffer.concat([gif.subarray(0, 19), Buffer.from(';')])],
    ['a JPEG whose scan comes before a frame', Buffer.from([0xff, 0xd8, 0xff, 0xda, 0x00, 0x08])],
    ['a JPEG with a segment shorter than its length', jpegWith(Buffer.from([0xff, 0xe0, 0x00, 0x01]))],
    ['a JPEG with something between its segments', jpegWith(Buffer.from([0xff, 0xe0, 0x00, 0x02, 0x00]))],
    ['a WebP that is shorter than it says', changed(lossyWebp, 4, 0x23)],
    ['a WebP that begins with an interframe', changed(lossyWebp, 20, 0x31)],
    ['a WebP without the signature of its kind', changed(losslessWebp, 20, 0x2e)],
    ['a WebP of an unknown kind', changed(lossyWebp, 12, 0x41)],
  ])('%s', ([, file]) => {
    expect(refusal(file)).toBe('image-unreadable')
  })
})

test('an image of more than 40 megapixels is refused', () => {
  expect(formatOf(png(8000, 5000))).toMatchObject({ width: 8000, height: 5000 })
  expect(refusal(png(8000, 5001))).toBe('image-too-large')
  expect(refusal(svg('width="8000" height="5001"'))).toBe('image-too-large')
  expect(refusal(svg('width="1e400" height="1"'))).toBe('image-too-large')
})

describe('the size of an SVG', () => {
  test.for<[string, number, number]>([
    ['width="30" height="20"', 30, 20],
    ['width="30px" height="20.4"', 30, 20],
    ['width="1in" height="2.54cm"', 96, 96],
    ['width="72pt" height="25.4mm"', 96, 96],
    ['width=" 2em " height="1e2"', 32, 100],
    ['viewBox="0 0 24 12"', 24, 12],
    ['viewBox="-1,-1, 24.6,12.2" width="100%" height="100%"', 25, 12],
    ['viewBox="0 0 24 12" width="48"', 48, 24],
    ['viewBox="0 0 24 12" height="48"', 96, 48],
    ['viewBox="0 0 24"', 300, 150],
    ['width="400"', 400, 150],
    ['', 300, 150],
    ['width="0.1" height="0.1"', 1, 1],
  ])('%s', ([attributes, width, height]) => {
    expect(formatOf(svg(attributes))).toEqual({ contentType: 'image/svg+xml', width, height })
  })

  test('is that of the root element, not of its children', () => {
    expect(formatOf(svg('viewBox="0 0 7 5"', '<rect width="99" height="99"/>'))).toMatchObject({
      width: 7,
      height: 5,
    })
  })

  test('must not be zero', () => {
    expect(refusal(svg('width="0" height="20"'))).toBe('image-unreadable')
  })
})

describe('an SVG must be XML', () => {
  const nested = (levels: number) => `<svg>${'<g>'.repeat(levels)}${'</g>'.repeat(levels)}</svg>`

  test.for<[string, string]>([
    ['a declaration', '<?xml version="1.0" encoding="UTF-8"?>\n<svg/>'],
    ['a byte order mark', '\u{feff}<svg/>'],
    [
      'comments and instructions around it',
      '<!-- a --><?xml-stylesheet href="a.css"?><svg></svg><!-- b -->\n',
    ],
    [
      'a DOCTYPE without declarations',
      '<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd"><svg/>',
    ],
    ['a prefix', '<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:g/></s:svg>'],
    [
      'text, references and CDATA',
      '<svg><text a=\'"\' b="\'">a &lt; b &#38; &#x26; 🙂</text><style><![CDATA[a > b {}]]></style></svg>',
    ],
    ['no namespace', '<svg width="10" height="10"></svg>'],
    ['elements nested deep', nested(255)],
  ])('with %s', ([, text]) => {
    expect(formatOf(Buffer.from(text)).contentType).toBe('image/svg+xml')
  })

  test.for<[string, string]>([
    ['entities', '<!DOCTYPE svg [<!ENTITY a "aa"><!ENTITY b "&a;&a;&a;">]><svg>&b;</svg>'],
    ['an external entity', '<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg>&x;</svg>'],
    ['an unknown entity', '<svg>&nbsp;</svg>'],
    ['an unknown entity in an attribute', '<svg a="&x;"/>'],
    ['a DOCTYPE within', '<svg><!DOCTYPE svg></svg>'],
    ['elements that overlap', '<svg><g><a></g></a></svg>'],
    ['an element that is not closed', '<svg><g></svg>'],
    ['an end that is cut off', '<svg><g/'],
    ['a root that is cut off', '<svg width="10'],
    ['a comment that is cut off', '<svg/><!-- '],
    ['the same attribute twice', '<svg a="1" a="2"/>'],
    ['an attribute without quotes', '<svg a=1/>'],
    ['attributes without a space', '<svg a="1"b="2"/>'],
    ['a < in an attribute', '<svg a="<"/>'],
    ['a bare &', '<svg>a & b</svg>'],
    ['-- in a comment', '<svg><!-- a -- b --></svg>'],
    ['a second root', '<svg/><svg/>'],
    ['text behind the root', '<svg/>text'],
    ['CDATA behind the root', '<svg/><![CDATA[]]>'],
    ['a declaration in the middle', '<svg><?xml version="1.0"?></svg>'],
    ['elements nested too deep', nested(256)],
    ['an internal subset', '<!DOCTYPE svg [ ]><svg/>'],
    ['its end tag', '<svg>'],
  ])('without %s', ([, text]) => {
    expect(refusal(Buffer.from(text))).toBe('image-unreadable')
  })

  test('in UTF-8', () => {
    expect(refusal(Buffer.from('<svg><!-- \xe9 --></svg>', 'latin1'))).toBe('image-type-unsupported')
    expect(refusal(Buffer.from('<svg>\u0000</svg>'))).toBe('image-type-unsupported')
  })
})

// Quadratic time would exceed the timeout of a test.
describe('malicious input is read in linear time', () => {
  const fill = (text: string) => text.repeat(Math.floor(MEBIBYTE / text.length))
  test.for<[string, () => Buffer]>([
    ['roots', () => Buffer.from(fill('<svg '))],
    ['quotes', () => Buffer.from(`<svg a="${fill("'")}`)],
    ['spaces in a tag', () => Buffer.from(`<svg${fill(' ')}`)],
    ['a long name', () => Buffer.from(`<svg ${fill('a')}`)],
    ['attributes', () => Buffer.from(`<svg ${fill('a="" ')}`)],
    ['a long attribute', () => svg(`a="${'x'.repeat(MEBIBYTE)}"`)],
    ['digits in a length', () => svg(`width="${fill('1')}x"`)],
    ['numbers in a viewBox', () => svg(`viewBox="${fill('1 ')}"`)],
    ['open comments', () => Buffer.from(`<svg>${fill('<!--')}`)],
    ['ampersands', () => Buffer.from(`<svg>${fill('&amp;')}&`)],
    ['empty elements', () => Buffer.from(`<svg>${fill('<a/>')}</svg>`)],
    ['JPEG segments', () => jpegWith(Buffer.from(fill('\xff\xe0\x00\x02'), 'latin1'))],
    ['JPEG fill bytes', () => jpegWith(Buffer.alloc(MEBIBYTE, 0xff))],
    ['JPEG zeros', () => Buffer.concat([jpeg.subarray(0, 3), Buffer.alloc(MEBIBYTE)])],
  ])('%s', ([, file]) => {
    refusal(file())
  })
})
