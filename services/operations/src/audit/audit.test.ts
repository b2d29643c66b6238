import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  CHAIN_START,
  type ChainedRecord,
  type ChainPoint,
  canonicalJson,
  ExportWriter,
  errorLine,
  type FormatName,
  nextHash,
  sha256,
  signStatement,
} from '@gantry/audit'
import { watchDisk } from '@gantry/embedded'
import { processLog, readSettings } from '@gantry/service-runtime'
import { compose, openDataFolder, settingsSchema } from '@gantry/standalone'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { CommandFailed, WrongUsage } from '../command.ts'
import { run as exportLog } from './export.ts'
import { exportFile } from './export-file.ts'
import { run as verify } from './verify.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-audit-'))
})
afterAll(() => rm(folder, { recursive: true }))
let printed: string
beforeEach(() => {
  printed = ''
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation((text, ...rest) => {
      printed += text
      const done = rest.at(-1)
      if (typeof done === 'function') done()
      return true
    })
  return () => vi.restoreAllMocks()
})

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const key = {
  ...{
    kid: 'k1',
    kty: 'OKP' as const,
    crv: 'Ed25519' as const,
    x: publicKey.export({ format: 'jwk' }).x ?? '',
  },
  ...{ alg: 'EdDSA' as const, use: 'sig' as const },
  ...{ validFrom: '2026-01-01T00:00:00.000Z', validUntil: null, revokedAt: null },
}
const signer = {
  kid: 'k1',
  privateKey: createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' })),
}

function chainOf(count: number): ChainedRecord[] {
  let point: ChainPoint = CHAIN_START
  return Array.from({ length: count }, (_, index) => {
    const position = String(index + 1).padStart(16, '0')
    const time = '2026-11-22T10:00:00.000Z'
    const record = canonicalJson({
      ...{ id: `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`, position },
      ...{ recordedAt: time, timestamp: time, actor: { id: null, name: 'catalog' }, action: 'API_UPDATED' },
      ...{ resourceType: 'API', resourceId: 'a', requestId: 'r', details: { before: null, after: {} } },
      ...{ eventHash: sha256(`event ${index}`), logHash: sha256(`log ${index}`) },
    })
    const recordHash = sha256(record)
    point = { number: index + 1, position, chainHash: nextHash(point.chainHash, recordHash) }
    return { ...point, recordHash, record }
  })
}
const chain = chainOf(30)

/** The export of records `after` to `to`, with a trailer after every ten records. */
function exported(after: number, to: number, format: FormatName = 'ndjson', kid = key.kid): string {
  const from = chain[after - 1] ?? CHAIN_START
  const { number, position, chainHash } = from
  const now = () => new Date('2026-11-23T00:00:00.000Z')
  const point = { number, position, chainHash }
  const signed = { keys: [{ ...key, kid }], signer: { ...signer, kid } }
  const writer = new ExportWriter({ format, filter: {}, from: point, roots: [], ...signed, now })
  let text = writer.begin()
  for (const record of chain.slice(after, to)) {
    text += writer.record(record)
    if (record.number % 10 === 0 && record.number < to) text += writer.trailer(false)
  }
  return text + writer.trailer(true)
}

const file = async (name: string, content: string) => {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

describe('audit verify', () => {
  test('accepts a complete export, with a warning unless it gets keys', async () => {
    const path = await file('whole', exported(0, 30))
    expect(await verify([path], {})).toBe(0)
    expect(printed).toMatch(/warning: .*the keys in the export itself are trusted/)
    expect(printed).toMatch(/verified: 30 records, records 1 to 30, signed at/)
    printed = ''
    const keys = await file('keys', JSON.stringify({ keys: [key] }))
    expect(await verify([path, '--keys', keys], {})).toBe(0)
    expect(printed).not.toContain('warning')
  })

  test('names the first broken or missing record and ends with 3', async () => {
    const lines = exported(0, 30).split(/(?<=\n)/)
    const at = lines.findIndex(line => line.includes('"number":17'))
    expect(await verify([await file('gap', lines.toSpliced(at, 1).join(''))], {})).toBe(3)
    expect(printed).toMatch(/gap: not verified: record 17, line \d+: record 17 is missing/)
    const changed = (lines[at] as string).replace('API_UPDATED', 'API_DELETED')
    expect(await verify([await file('changed', lines.with(at, changed).join(''))], {})).toBe(3)
    expect(printed).toMatch(/changed: not verified: record 17 \(position 0+17, id .*16\)/)
  })

  test('checks several files as consecutive parts, in any order', async () => {
    const parts = [
      await file('a', exported(0, 10)),
      await file('b', exported(10, 20)),
      await file('c', exported(20, 30)),
    ]
    const [a = '', b = '', c = ''] = parts
    expect(await verify([c, a, b], {})).toBe(0)
    expect(await verify([c, a], {})).toBe(3)
    expect(printed).toMatch(/c: not verified: record 11 is missing: it begins with record 21/)
    expect(await verify([a, await file('overlap', exported(5, 20))], {})).toBe(3)
    expect(printed).toMatch(/overlap: not verified: it begins with record 6, which is in .*a already/)
  })

  test('shows no control characters of an export, which a forger can have written', async () => {
    const path = await file('forged', exported(0, 30, 'ndjson', 'k1\u001b[1A\u001b[2K\n'))
    expect(await verify([path], {})).toBe(0)
    expect(printed.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u)
  })

  test('finds a tail that was cut off, and a log that is another one, against an older export or a head', async () => {
    const [whole, part, older] = [
      await file('now', exported(0, 20)),
      await file('later', exported(15, 20)),
      await file('older', exported(0, 20)),
    ]
    const { number, position, chainHash } = chain[24] as ChainedRecord
    const log = { events: 40, position, hash: chainHash }
    const head = { number, position, chainHash, log, kid: 'k1', signedAt: '2026-11-23T00:00:00.000Z' }
    const signature = signStatement({ head }, signer)
    const newer = await file('head', JSON.stringify({ head: { ...head, signature } }))
    const keys = await file('keys', JSON.stringify({ keys: [key] }))
    expect(await verify([whole, '--against', older], {})).toBe(0)
    expect(
      await verify([await file('longer', exported(0, 30)), '--against', newer, '--keys', keys], {}),
    ).toBe(0)
    expect(await verify([part, '--against', older], {})).toBe(0)
    expect(await verify([whole, '--against', newer, '--keys', keys], {})).toBe(3)
    expect(printed).toMatch(
      /now: not verified: it ends with record 20: the records up to number 25 were cut off/,
    )
    const other = await file('other head', JSON.stringify({ head: { ...head, number: 7, signature } }))
    expect(await verify([whole, '--against', other], {})).toBe(3)
    expect(printed).toMatch(/not verified: the records up to number 7 differ/)
    await expect(verify([whole, '--against', other, '--keys', keys], {})).rejects.toThrow(
      /signature is wrong/,
    )
  })

  test('fails with --require-keys unless it gets keys', async () => {
    const path = await file('keyless', exported(0, 30))
    await expect(verify([path, '--require-keys'], {})).rejects.toThrow(/name the trusted keys/)
    const keys = await file('keys', JSON.stringify({ keys: [key] }))
    expect(await verify([path, '--require-keys', '--keys', keys], {})).toBe(0)
  })

  test('reads the log of a data folder, and names the event that differs', async () => {
    const DATA_DIR = join(folder, 'data')
    const data = openDataFolder({ DATA_DIR })
    const context = { log: processLog({ level: 'silent' }), metrics: new Registry(), disk: watchDisk() }
    const settings = readSettings(settingsSchema, { DATA_DIR })
    const running = compose(data, { settings, ...context })
    await Promise.all(running.services.map(service => service.start()))
    await vi.waitFor(async () => expect((await running.identity.audit.head.read())?.record.number).toBe(2))
    await running.close()
    expect(await verify(['--log'], { DATA_DIR })).toBe(0)
    expect(printed).toMatch(/the log: verified: \d+ events up to position \d+, by the head of the audit log/)
    const log = new DatabaseSync(data.events)
    log.exec(`UPDATE events SET data = json_set(data, '$.x', 'y') WHERE stream LIKE 'auditkey-%'`)
    log.close()
    expect(await verify(['--log'], { DATA_DIR })).toBe(3)
    expect(printed).toMatch(
      /not verified: the event at position \d+ \(SigningKeyMade, .* of auditkey-ring\) differs/,
    )
  })

  test('refuses wrong arguments and files', async () => {
    await expect(verify([], {})).rejects.toThrow(WrongUsage)
    await expect(verify([join(folder, 'missing')], {})).rejects.toThrow(CommandFailed)
    const path = await file('no keys', '{"keys": [{}]}')
    await expect(verify([path, '--keys', path], {})).rejects.toThrow(/cannot use the keys in/)
  })
})

describe('the file of an export', () => {
  test.each(['ndjson', 'csv', 'cef'] as const)('as %s is continued after its last trailer', async format => {
    const whole = exported(0, 30, format)
    const end = whole.lastIndexOf('\n', whole.length - 2) + 1
    for (const cut of [0, 5, 200]) {
      const path = await file(`begun.${format}`, whole.slice(0, cut))
      expect(await (await exportFile(path, format)).last()).toBeUndefined()
      expect(await readFile(path, 'utf8')).toBe('')
    }
    for (const cut of [end, end - 1, end + 20]) {
      const path = await file(`cut.${format}`, whole.slice(0, cut))
      const opened = await exportFile(path, format)
      expect((await opened.last())?.trailer).toMatchObject({ complete: false, after: { number: 20 } })
      const kept = await readFile(path, 'utf8')
      expect(whole.startsWith(kept)).toBe(true)
      await opened.append(Buffer.from(whole.slice(kept.length)))
      expect(opened.reached).toBe(30)
      await opened.close()
      expect((await (await exportFile(path, format)).last())?.trailer.complete).toBe(true)
    }
  })

  test('that is something else is not changed', async () => {
    const other = await file('other', 'notes\n')
    await expect(exportFile(other, 'ndjson')).rejects.toThrow(/is no export/)
    expect(await readFile(other, 'utf8')).toBe('notes\n')
    for (const [format, beginning] of [
      ['ndjson', '{"name": "settings"}\n'],
      ['cef', 'CEF:0|Vendor|Product|1|login|Login|0|\n'],
      ['csv', 'number,name\n1,a\n'],
    ] as const) {
      const similar = await file(`similar.${format}`, beginning)
      await expect(exportFile(similar, format)).rejects.toThrow(/is no export/)
      expect(await readFile(similar, 'utf8')).toBe(beginning)
    }
    const csv = await file('csv', exported(0, 10, 'csv'))
    await expect(exportFile(csv, 'cef')).rejects.toThrow(/is an export as csv/)
  })
})

test('audit export continues after a refusal for a while and after a response that ends early, with pauses', async () => {
  const whole = exported(0, 30)
  const requests: (string | null)[] = []
  let counts = 0
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://gantry')
    if (pathname === '/auditLog') {
      response.writeHead(++counts === 1 ? 503 : 200, { 'content-type': 'application/json' })
      return response.end('{"totalElements": 30}')
    }
    requests.push(searchParams.get('trailer'))
    if (requests.length === 1) return response.end(whole.slice(0, whole.length / 2))
    const kept = readFileSync(path, 'utf8')
    return response.end(whole.slice(kept.length))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const path = join(folder, 'continued')
  const BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  expect(await exportLog([path], { BASE_URL, GANTRY_TOKEN: 'pat_1' })).toBe(0)
  expect(await readFile(path, 'utf8')).toBe(whole)
  expect(counts).toBe(2)
  expect(requests).toEqual([null, expect.any(String)])
  expect(printed).toMatch(/503 .*trying again in .*ended before the export; trying again in/s)
})

test.each(['ndjson', 'csv'] as const)(
  'audit export ends with the error of the service in a response as %s',
  async format => {
    const server = createServer((request, response) => {
      const text = exported(0, 30, format)
        .split(/(?<=\n)/)
        .slice(0, 4)
        .join('')
      response.end(request.url?.includes('export') ? text + errorLine(format, 'record 3 is missing') : '{}')
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const BASE_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const args = [join(folder, `error.${format}`), '--format', format]
    await expect(exportLog(args, { BASE_URL, GANTRY_TOKEN: 'pat_1' })).rejects.toThrow(/record 3 is missing/)
  },
)

test.each(['', 'a b', 'a --format xml', 'a --after x', 'a --from noon', 'a --since 2026'])(
  'audit export %s is answered with the usage',
  async args => {
    await expect(exportLog(args === '' ? [] : args.split(' '), {})).rejects.toThrow(WrongUsage)
  },
)
