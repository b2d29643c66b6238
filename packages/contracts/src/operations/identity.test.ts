import { expect, test } from 'vitest'
import { Username } from './identity.ts'

const said = (value: string) => {
  const parsed = Username.safeParse(value)
  return parsed.success ? parsed.data : parsed.error.issues.map(({ message }) => message).join()
}

test.for([
  'ada',
  'Ada Lovelace',
  'ada+api@example.com',
  'größe',
  'Юлия',
  'Αθηνά',
  '山田 太郎',
  'yamada山田',
  '홍길동',
  'محمد',
  "o'neill_2",
])('%s is a valid username', name => {
  expect(said(name)).toBe(name)
})

test('a username is stored in NFC', () => {
  expect(said('gro\u0308\u00dfe')).toBe('gr\u00f6\u00dfe')
  expect(said('\u1112\u1169\u11bc')).toBe('\ud64d')
  // NFC replaces the Kelvin sign and the Angstrom sign by letters.
  expect(said('\u212aelvin \u212b')).toBe('Kelvin \u00c5')
})

test.for([
  ['bidirectional override', 'ada\u202enimda'],
  ['bidirectional isolate', '\u2066ada\u2069'],
  ['right-to-left mark', 'ada\u200f'],
  ['Arabic letter mark', 'ada\u061cb'],
  ['zero width space', 'a\u200bda'],
  ['zero width joiner', 'a\u200dda'],
  ['zero width non-joiner', 'a\u200cda'],
  ['word joiner', 'a\u2060da'],
  ['byte order mark', 'a\ufeffda'],
  ['soft hyphen', 'a\u00adda'],
  ['combining grapheme joiner', 'a\u034fda'],
  ['Hangul filler', 'a\u3164da'],
  ['variation selector', 'ada\ufe0fb'],
  ['tag character', 'ada\u{e0041}'],
  ['private use', 'ada\ue000'],
  ['no-break space', 'ada\u00a0b'],
  ['line separator', 'ada\u2028b'],
])('a username with a %s is refused', ([, name]) => {
  expect(said(name as string)).toContain('invisible')
})

test.for([
  ['Cyrillic', '\u0430dmin'],
  ['Greek', 'admin\u03bf'],
  ['Armenian', 'admi\u0578'],
  ['Cherokee', '\u13aaDA'],
  ['Coptic', 'ad\u2c9fa'],
  ['Lisu', '\ua4d0da'],
])('a Latin username with a letter of %s is refused', ([, name]) => {
  expect(said(name as string)).toContain('must not mix')
})

test.for(['\uff41dmin', '\u{1d41a}dmin', 'o\ufb03ce', '\u2090dmin'])(
  'a username with compatibility forms of letters is refused: %s',
  name => {
    expect(said(name)).toContain('forms of other letters')
  },
)

test('a username is trimmed and has 1 to 255 characters, as other names', () => {
  expect(said('  ada ')).toBe('ada')
  expect(said(' ')).toContain('must not be empty')
  expect(said('x'.repeat(256))).toContain('at most 255')
})
