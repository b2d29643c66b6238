import { createPublicKey, type KeyObject, sign, verify } from 'node:crypto'
import { z } from 'zod'
import { canonicalJson } from './canonical-json.ts'
import type { ChainPoint, LogPoint } from './chain.ts'

export const hashSchema = z.string().regex(/^[0-9a-f]{64}$/)
export const numberSchema = z.int().min(0)
const time = z.iso.datetime()
/** A record of an export, with its number in the chain and its position in the log. */
const place = z.object({ number: numberSchema, position: z.string() })
export const pointSchema = place.extend({ chainHash: hashSchema }) satisfies z.ZodType<ChainPoint>
const log = z.object({
  events: numberSchema,
  position: z.string(),
  hash: hashSchema,
}) satisfies z.ZodType<LogPoint>
/** `kid` is the id of the key that signs. */
const signed = { kid: z.string(), signedAt: time }

/** The records of one UTC day of recording. Consecutive days have consecutive records. */
export const rootSchema = z.object({
  ...signed,
  day: z.iso.date(),
  /** Number of records of the day; may be 0. */
  count: numberSchema,
  /** Null on a day without records. */
  first: place.nullable(),
  last: place.nullable(),
  before: pointSchema,
  /** The chain after the last record of the day. */
  after: pointSchema,
  /** The log after the last event of the day, also one without a record. */
  log,
})

/** The chain at the time of a request. */
export const headSchema = pointSchema.extend({ ...signed, log })

/** What an export contains from its first line up to here. */
export const trailerSchema = z.object({
  ...signed,
  /** Whether the export ends here. If not, it continues after this line. */
  complete: z.boolean(),
  /** Number of records in the export. */
  count: numberSchema,
  /** Number of records that the filter leaves out. */
  omitted: numberSchema,
  /** The first and the last record in the export; null when there is none. */
  first: place.nullable(),
  last: place.nullable(),
  before: pointSchema,
  after: pointSchema,
  filter: z.record(z.string(), z.unknown()),
  /** SHA-256 of all bytes since the previous trailer, or since the beginning of the file. */
  content: hashSchema,
})

/** A public audit key: an Ed25519 JWK (RFC 8037) with the time for which it signs. */
export const keySchema = z.object({
  kid: z.string(),
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
  validFrom: time,
  /** Null while it has no successor. */
  validUntil: time.nullable(),
  /** Time since which its signatures are refused, because it was compromised; null if it was not. */
  revokedAt: time.nullable(),
})

export type RecordPlace = z.infer<typeof place>
export type DayRoot = z.infer<typeof rootSchema>
export type ChainHead = z.infer<typeof headSchema>
export type Trailer = z.infer<typeof trailerSchema>
export type AuditKey = z.infer<typeof keySchema>

/** What an audit key signs. The name of the only property separates the kinds, so that none is taken for another. */
export type Statement = { root: DayRoot } | { head: ChainHead } | { trailer: Trailer }

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
  const { kid, signedAt } = Object.values(statement)[0] as { kid: string; signedAt: string }
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
