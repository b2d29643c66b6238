import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { canonicalJson } from './canonical-json.ts'
import type { ChainPoint, LogPoint } from './chain.ts'

/** A record of an export, with its number in the chain and its position in the log. */
export interface RecordPlace {
  number: number
  position: string
}

interface Signed {
  /** Id of the key that signs. */
  kid: string
  /** ISO 8601 UTC. */
  signedAt: string
}

/** The records of one UTC day of recording. Consecutive days have consecutive records. */
export interface DayRoot extends Signed {
  /** ISO 8601, e.g. 2026-11-22. */
  day: string
  /** Number of records of the day; may be 0. */
  count: number
  /** Null on a day without records. */
  first: RecordPlace | null
  last: RecordPlace | null
  before: ChainPoint
  /** The chain after the last record of the day. */
  after: ChainPoint
  /** The log after the last event of the day, also one without a record. */
  log: LogPoint
}

/** The chain at the time of a request. */
export type ChainHead = ChainPoint & { log: LogPoint } & Signed

/** What an export contains from its first line up to here. */
export interface Trailer extends Signed {
  /** Whether the export ends here. If not, it continues after this line. */
  complete: boolean
  /** Number of records in the export. */
  count: number
  /** Number of records that the filter leaves out. */
  omitted: number
  /** The first and the last record in the export; null when there is none. */
  first: RecordPlace | null
  last: RecordPlace | null
  before: ChainPoint
  after: ChainPoint
  filter: Readonly<Record<string, unknown>>
  /** SHA-256 of all bytes since the previous trailer, or since the beginning of the file. */
  content: string
}

/** What an audit key signs. The name of the only property separates the kinds, so that none is taken for another. */
export type Statement = { root: DayRoot } | { head: ChainHead } | { trailer: Trailer }

/** A public audit key: an Ed25519 JWK (RFC 8037) with the time for which it signs. */
export interface AuditKey {
  kid: string
  kty: 'OKP'
  crv: 'Ed25519'
  x: string
  alg: 'EdDSA'
  use: 'sig'
  /** ISO 8601 UTC. */
  validFrom: string
  /** Null while it has no successor. */
  validUntil: string | null
  /** Time since which its signatures are refused, because it was compromised; null if it was not. */
  revokedAt: string | null
}

export interface AuditKeySet {
  keys: AuditKey[]
}

export interface AuditSigner {
  kid: string
  /** An Ed25519 key. */
  privateKey: KeyObject
}

/** @returns the Ed25519 signature over the canonical JSON, base64url */
export const signStatement = (statement: Statement, { privateKey }: AuditSigner): string =>
  sign(null, Buffer.from(canonicalJson(statement)), privateKey).toString('base64url')

/** Clocks of replicas may differ by this time, in milliseconds. */
const TOLERANCE_MS = 10 * 60_000

/** @returns why the signature does not prove the statement; undefined when it does */
export function refutes(
  statement: Statement,
  signature: string,
  keys: readonly AuditKey[],
): string | undefined {
  const { kid, signedAt } = Object.values(statement)[0] as Signed
  const key = keys.find(known => known.kid === kid)
  if (!key) return `its key ${kid} is not among the keys`
  // Other texts of the same bytes are refused, so that no character of an export can be changed.
  const bytes = Buffer.from(signature, 'base64url')
  let valid = bytes.toString('base64url') === signature
  try {
    const publicKey = createPublicKey({ key: { kty: key.kty, crv: key.crv, x: key.x }, format: 'jwk' })
    valid &&= verify(null, Buffer.from(canonicalJson(statement)), publicKey, bytes)
  } catch {
    return `its key ${kid} cannot be used`
  }
  if (!valid) return 'its signature is wrong'
  const at = Date.parse(signedAt)
  if (at < Date.parse(key.validFrom) - TOLERANCE_MS) return `it is older than its key ${kid}`
  if (key.validUntil !== null && at > Date.parse(key.validUntil) + TOLERANCE_MS)
    return `its key ${kid} was retired before`
  if (key.revokedAt !== null && at >= Date.parse(key.revokedAt)) return `its key ${kid} was revoked before`
  return undefined
}
