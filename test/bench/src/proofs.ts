import { generateKeyPairSync } from 'node:crypto'
import {
  type AuditKey,
  CHAIN_START,
  canonicalJson,
  ExportWriter,
  nextHash,
  sha256,
  verifyExport,
} from '@gantry/audit'
import { atLeast, type Figure, progress } from './report.ts'

const RECORDS = 200_000
const PER_PART = 5_000
const PIECE = 65_536
const RUNS = 5

/** (v) Verification of an export of the audit log, as NDJSON, with records of changes of APIs. */
export async function proofs(): Promise<Figure[]> {
  progress(`(v) makes an export of ${RECORDS} records`)
  const { key, pieces } = exported()
  const rates: number[] = []
  for (let run = 0; run < RUNS; run++) {
    progress(`(v) verifies it, ${run + 1} of ${RUNS}`)
    const startedAt = performance.now()
    const { broken, count } = await verifyExport(pieces, [key])
    if (broken || count !== RECORDS) throw new Error(`the export is not proven: ${broken?.reason}`)
    rates.push(RECORDS / ((performance.now() - startedAt) / 1000))
  }
  return [atLeast('(v) audit records verified a second', rates, 200_000)]
}

/** An export and the key that signs it. */
function exported(): { key: AuditKey; pieces: Buffer[] } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { x = '' } = publicKey.export({ format: 'jwk' })
  const now = () => new Date()
  const validity = { validFrom: now().toISOString(), validUntil: null, revokedAt: null }
  const key: AuditKey = { kid: 'bench', kty: 'OKP', crv: 'Ed25519', x, alg: 'EdDSA', use: 'sig', ...validity }
  const writer = new ExportWriter({
    format: 'ndjson',
    filter: {},
    from: CHAIN_START,
    keys: [key],
    roots: [],
    signer: { kid: key.kid, privateKey },
    now,
  })
  const parts = [writer.begin()]
  let point = CHAIN_START
  for (let number = 1; number <= RECORDS; number++) {
    const { position, record } = recordNumbered(number)
    const recordHash = sha256(record)
    point = { number, position, chainHash: nextHash(point.chainHash, recordHash) }
    parts.push(writer.record({ ...point, recordHash, record }))
    if (number % PER_PART === 0) parts.push(writer.trailer(number === RECORDS))
  }
  const bytes = Buffer.from(parts.join(''))
  const pieces = Array.from({ length: Math.ceil(bytes.length / PIECE) }, (_, index) =>
    bytes.subarray(index * PIECE, (index + 1) * PIECE),
  )
  return { key, pieces }
}

/** An update of an API, about 1 KB. */
function recordNumbered(number: number) {
  const position = String(number).padStart(16, '0')
  const time = '2026-11-22T10:00:00.000Z'
  const user = '22222222-2222-4222-8222-222222222222'
  const api = {
    id: '11111111-1111-4111-8111-111111111111',
    name: 'weather',
    displayName: 'Weather',
    description: 'The weather of tomorrow',
    tags: ['a', 'b'],
    url: 'https://example.com/weather',
    gitUrl: null,
    owner: user,
  }
  const record = canonicalJson({
    id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    position,
    recordedAt: time,
    timestamp: time,
    actor: { id: user, name: user },
    action: 'API_UPDATED',
    resourceType: 'API',
    resourceId: api.id,
    requestId: '33333333-3333-4333-8333-333333333333',
    details: { before: api, after: { ...api, name: `weather ${number}` } },
  })
  return { position, record }
}
