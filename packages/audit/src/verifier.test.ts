import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from './canonical-json.ts'
import { CHAIN_START, type ChainPoint, LOG_START, nextHash, sha256 } from './chain.ts'
import { type ChainedRecord, ExportWriter, type ExportWriterOptions } from './export-writer.ts'
import type { FormatName } from './formats.ts'
import type { PersonalFields, StoredRecord } from './lines.ts'
import { type AuditKey, type DayRoot, signStatement, type Trailer } from './statements.ts'
import { type Verification, verifyExport } from './verifier.ts'

const FORMATS: FormatName[] = ['ndjson', 'csv', 'cef']
const now = () => new Date('2026-11-25T08:00:00.000Z')

function keyPair(kid: string): { key: AuditKey; privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const times = { validFrom: '2026-11-01T00:00:00.000Z', validUntil: null, revokedAt: null }
  return { privateKey, key: { kid, kty: 'OKP', crv: 'Ed25519', x, alg: 'EdDSA', use: 'sig', ...times } }
}
const own = keyPair('own')
const other = keyPair('own')
const signer = { kid: 'own', privateKey: own.privateKey }

const ADA = '22222222-2222-4222-8222-222222222222'
const salted: PersonalFields = {
  salt: 'c2FsdA',
  before: null,
  after: { username: 'ada', email: 'a=b|c\\d@example.com' },
}

/** Records of three days, the second of which has none. Each third record has personal fields. */
function chainOf(count: number): ChainedRecord[] {
  let point: ChainPoint = CHAIN_START
  return Array.from({ length: count }, (_, index) => {
    const day = index < count / 2 ? '2026-11-22' : '2026-11-24'
    const time = `${day}T10:00:${String(index % 60).padStart(2, '0')}.000Z`
    const position = String((index + 1) * 3).padStart(16, '0')
    const stored: StoredRecord = {
      id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`,
      position,
      recordedAt: time,
      timestamp: time,
      actor: index % 2 ? { id: ADA, name: ADA } : { id: null, name: 'catalog' },
      action: index % 3 ? 'API_UPDATED' : 'USER_CREATED',
      resourceType: index % 3 ? 'API' : 'USER',
      resourceId: `=resource|${index}`,
      requestId: 'line\nfeed, "quoted" \u2028',
      details: {
        before: index % 4 ? { name: `weather ${index}` } : null,
        after: { tags: ['ä', '𝄞'], '=1': -0.5 },
      },
      ...(index % 3 === 0 && { commitment: sha256(canonicalJson(salted)) }),
      eventHash: sha256(`event ${index}`),
      logHash: sha256(`log ${index}`),
    }
    const record = canonicalJson(stored)
    const recordHash = sha256(record)
    point = { number: index + 1, position, chainHash: nextHash(point.chainHash, recordHash) }
    return { ...point, recordHash, record }
  })
}

const pointOf = ({ number, position, chainHash }: ChainPoint): ChainPoint => ({ number, position, chainHash })

function rootsOf(chain: readonly ChainedRecord[]) {
  const half = Math.ceil(chain.length / 2)
  const ends = [0, half, half].map(number =>
    number === 0 ? CHAIN_START : pointOf(chain[number - 1] as ChainPoint),
  )
  return ['2026-11-22', '2026-11-23'].map((day, index) => {
    const [before, after] = ends.slice(index) as [ChainPoint, ChainPoint]
    const place = (number: number) => {
      const { position = '' } = chain[number - 1] ?? {}
      return after.number === before.number ? null : { number, position }
    }
    const count = after.number - before.number
    const times = { signedAt: '2026-11-25T00:00:01.000Z', kid: 'own' }
    const root: DayRoot = {
      day,
      count,
      first: place(before.number + 1),
      last: place(after.number),
      before,
      after,
      log: LOG_START,
      ...times,
    }
    return { root, signature: signStatement({ root }, signer) }
  })
}

interface ExportOptions extends Partial<ExportWriterOptions> {
  /** Whether a record is in the export. Default: all. */
  includes?: (record: ChainedRecord) => boolean
  /** Number of records between trailers. */
  part?: number
}

function exportOf(chain: readonly ChainedRecord[], options: ExportOptions = {}): string {
  const { includes = () => true, part = 7, from = CHAIN_START, ...given } = options
  const roots = rootsOf(chain).filter(({ root }) => root.after.number > from.number)
  const defaults = { format: 'ndjson' as const, filter: {}, from, keys: [own.key], roots, signer, now }
  const writer = new ExportWriter({ ...defaults, ...given })
  let text = writer.begin()
  for (const chained of chain.slice(from.number)) {
    const { actor, commitment } = JSON.parse(chained.record) as StoredRecord
    const users = actor.id === null ? [] : [{ id: actor.id, username: 'ada', displayName: 'Ada, Countess' }]
    text += includes(chained)
      ? writer.record(chained, { users, ...(commitment && { personal: salted }) })
      : writer.omitted(chained)
    if (chained.number % part === 0) text += writer.trailer(false)
  }
  return text + writer.trailer(true)
}

/** Verifies in pieces of a length, so that lines begin and end in different ones. */
function verified(
  text: string | Uint8Array,
  keys: AuditKey[] | null = [own.key],
  length = 1_000,
): Promise<Verification> {
  const bytes = Buffer.from(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
    bytes.subarray(index * length, (index + 1) * length),
  )
  return verifyExport(pieces, keys ?? undefined)
}

const chain = chainOf(20)
const third = ({ number }: ChainedRecord) => number % 3 === 0
const linesOf = (text: string) => text.split(/(?<=\n)/)

describe.each(FORMATS)('an export as %s', format => {
  test('is proven, whole, filtered, and in pieces of any length', async () => {
    for (const length of [1, 13, 100_000]) {
      expect(await verified(exportOf(chain, { format }), [own.key], length)).toMatchObject({
        count: 20,
        omitted: 0,
        warnings: [],
      })
      const filtered = await verified(
        exportOf(chain, { format, includes: third, filter: { action: 'a' } }),
        [own.key],
        length,
      )
      expect(filtered.broken).toBeUndefined()
      expect(filtered).toMatchObject({
        count: 6,
        omitted: 14,
        trailer: { filter: { action: 'a' }, first: { number: 3 }, last: { number: 18 } },
      })
    }
  })

  test('is not proven after any change, removal, repetition or move of a line, and the line is named', async () => {
    const lines = linesOf(exportOf(chain, { format }))
    const index = fc.nat(lines.length - 1)
    type Damage = [name: 'change' | 'remove' | 'repeat' | 'swap', line: number, other: number, flip: number]
    const damage: fc.Arbitrary<Damage> = fc.tuple(
      fc.constantFrom('change', 'remove', 'repeat', 'swap'),
      index,
      fc.nat(10_000),
      fc.integer({ min: 1, max: 255 }),
    )
    const damaged = ([name, at, other, flip]: Damage): Uint8Array => {
      const line = lines[at] as string
      if (name === 'remove') return Buffer.from(lines.toSpliced(at, 1).join(''))
      if (name === 'repeat') return Buffer.from(lines.toSpliced(at, 0, line).join(''))
      if (name === 'swap') {
        const second = other % lines.length
        return Buffer.from(
          lines
            .with(at, lines[second] as string)
            .with(second, line)
            .join(''),
        )
      }
      const bytes = Buffer.from(line)
      const place = other % bytes.length
      bytes[place] = (bytes[place] as number) ^ flip
      return Buffer.concat([
        Buffer.from(lines.slice(0, at).join('')),
        bytes,
        Buffer.from(lines.slice(at + 1).join('')),
      ])
    }
    await fc.assert(
      fc.asyncProperty(damage, async given => {
        const [name, at, other] = given
        const second = other % lines.length
        fc.pre(name !== 'swap' || lines[at] !== lines[second])
        const { broken } = await verified(damaged(given))
        expect(broken?.reason).toBeTruthy()
        // Names beside a record are proven by the next trailer.
        expect(broken?.line).toBeGreaterThanOrEqual((name === 'swap' ? Math.min(at, second) : at) + 1)
      }),
      { numRuns: 150 },
    )
  })

  test('can be continued after a trailer, and both parts are proven as one', async () => {
    const whole = linesOf(exportOf(chain, { format }))
    const at = whole.findLastIndex((line, index) => line.includes('trailer') && index < whole.length - 1)
    const begun = whole.slice(0, at + 1).join('')
    const { trailer } = await verified(begun)
    const { before, after, count, omitted, first, last } = trailer as Trailer
    const continued = exportOf(chain, { format, from: after, soFar: { before, count, omitted, first, last } })
    const result = await verified(begun + continued)
    expect(result.broken).toBeUndefined()
    expect(result).toMatchObject({ count: 20, trailer: { complete: true, before: CHAIN_START, count: 20 } })
    expect((await verified(continued)).broken).toMatchObject({ number: 1 })
  })
})

test('no character of the last trailer can be changed, not even one that the signature does not need', async () => {
  const whole = exportOf(chain)
  const signature = /"signature":"([^"]*)","trailer":[^\n]*\n$/.exec(whole)?.[1] ?? ''
  for (const end of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_') {
    const changed = signature.slice(0, -1) + end
    const { broken } = await verified(whole.replace(signature, changed))
    expect(broken === undefined, end).toBe(changed === signature)
  }
  expect((await verified(whole.replace(/"trailer":\{/g, '"trailer": {'))).broken?.reason).toMatch(/damaged/)
})

test('a cell that a spreadsheet would take for a formula is a text', () => {
  expect(exportOf(chain, { format: 'csv' })).toContain(",'=resource|0,")
})

test('each row of CSV and CEF is one line, whatever the record contains', () => {
  for (const format of ['csv', 'cef'] as const) {
    const lines = exportOf(chain, { format }).split('\n')
    expect(lines.filter(line => line.includes('weather 1')).length).toBeGreaterThan(0)
    expect(lines.every(line => line === '' || line.includes('proof') || line.includes('{'))).toBe(true)
  }
})

describe('a forger without the key', () => {
  const forged = exportOf(chainOf(10), { signer: { kid: 'own', privateKey: other.privateKey } })

  test('cannot sign a trailer', async () => {
    expect((await verified(forged)).broken?.reason).toMatch(/signature is wrong/)
  })

  test('cannot replace the keys in the export when the verifier has others', async () => {
    const withKeys = exportOf(chain, {
      signer: { kid: 'own', privateKey: other.privateKey },
      keys: [other.key],
      roots: [],
    })
    expect((await verified(withKeys)).broken?.reason).toMatch(/signature is wrong/)
    const trusting = await verified(withKeys, null)
    expect(trusting.broken).toBeUndefined()
    expect(trusting.warnings).toEqual([expect.stringContaining('a forger could have replaced them')])
  })

  test('is found by the root of a day when the records were changed before the export', async () => {
    const changed = chainOf(20)
    const roots = rootsOf(chain)
    let point = CHAIN_START
    for (const chained of changed) {
      if (chained.number === 4) chained.record = chained.record.replace('weather', 'climate')
      chained.recordHash = sha256(chained.record)
      chained.chainHash = nextHash(point.chainHash, chained.recordHash)
      point = chained
    }
    expect((await verified(exportOf(changed, { roots }))).broken).toMatchObject({
      reason: expect.stringContaining('signed for 2026-11-22'),
    })
  })
})

describe('a key', () => {
  const signedBy = (times: Partial<AuditKey>) => verified(exportOf(chain), [{ ...own.key, ...times }])

  test('does not sign before it is valid, after it is retired, or after it is revoked', async () => {
    expect((await signedBy({ validFrom: '2026-11-26T00:00:00.000Z' })).broken?.reason).toMatch(
      /older than its key/,
    )
    expect((await signedBy({ validUntil: '2026-11-24T00:00:00.000Z' })).broken?.reason).toMatch(/retired/)
    expect((await signedBy({ revokedAt: '2026-11-24T00:00:00.000Z' })).broken?.reason).toMatch(/revoked/)
  })

  test('that was revoked later gives a warning', async () => {
    const { broken, warnings } = await signedBy({ revokedAt: '2026-11-26T00:00:00.000Z' })
    expect(broken).toBeUndefined()
    expect(warnings.join()).toMatch(/may be forged/)
  })
})

test('a file that is no export, or a damaged one, is said to be so', async () => {
  const whole = exportOf(chain)
  const reason = async (file: string | Uint8Array) => (await verified(file)).broken?.reason
  expect(await reason('')).toMatch(/empty/)
  expect(await reason('hello\n')).toMatch(/no audit export/)
  expect(await reason(Buffer.from([0x1f, 0x8b, 8, 0, 10, 255]))).toMatch(/no audit export/)
  expect(await reason('{}\n')).toMatch(/damaged/)
  expect(await reason('{"header":{"version":2,"filter":{},"before":null}}\n')).toMatch(/damaged/)
  expect(await reason(whole.slice(0, -5))).toMatch(/ends in the middle/)
  expect(await reason(`${whole}${linesOf(whole).at(-2)}`)).toMatch(/has ended before/)
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1, maxLength: 400 }),
      fc.nat(whole.length - 1),
      async (garbage, at) => {
        const bytes = Buffer.from(whole)
        expect(await reason(Buffer.concat([bytes.subarray(0, at), garbage, bytes.subarray(at)]))).toBeTruthy()
      },
    ),
    { numRuns: 100 },
  )
})

test('lone surrogates in free-form JSON have a canonical form', () => {
  expect(canonicalJson({ '\ud800': ['a\udc00'] })).toBe('{"\ufffd":["a\ufffd"]}')
})
