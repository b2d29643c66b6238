import { parsedText } from '@gantry/event-sourcing'
import { z } from 'zod'
import type { Line, StoredRecord } from './lines.ts'
import type { AuditKey, ChainHead, Trailer } from './statements.ts'

const hash = z.string().regex(/^[0-9a-f]{64}$/)
const number = z.int().min(0)
const place = z.object({ number, position: z.string() })
const point = place.extend({ chainHash: hash })
const log = z.object({ events: number, position: z.string(), hash })
const time = z.iso.datetime()
const fields = z.record(z.string(), z.unknown())
const signed = { kid: z.string(), signedAt: time }

const key = z.object({
  kid: z.string(),
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
  alg: z.literal('EdDSA'),
  use: z.literal('sig'),
  validFrom: time,
  validUntil: time.nullable(),
  revokedAt: time.nullable(),
})

const record = z.object({
  id: z.string(),
  position: z.string(),
  recordedAt: z.string(),
  timestamp: z.string(),
  actor: z.object({
    id: z.string().nullable(),
    name: z.string(),
    tokenId: z.string().optional(),
    address: z.string().optional(),
  }),
  action: z.string(),
  resourceType: z.string(),
  resourceId: z.string(),
  requestId: z.string(),
  details: z.object({ before: fields.nullable(), after: fields.nullable() }),
  restoredTo: z.string().optional(),
  commitment: z.string().optional(),
  eventHash: hash,
  logHash: hash,
})
const pseudonyms = z.object({ before: fields.nullable(), after: fields.nullable() })
const personal = pseudonyms.extend({ salt: z.string() })

const root = z.object({
  ...signed,
  day: z.iso.date(),
  count: number,
  first: place.nullable(),
  last: place.nullable(),
  before: point,
  after: point,
  log,
})
const head = point.extend({ ...signed, log })
const trailer = z.object({
  ...signed,
  complete: z.boolean(),
  count: number,
  omitted: number,
  first: place.nullable(),
  last: place.nullable(),
  before: point,
  after: point,
  filter: fields,
  content: hash,
})

/** The kinds of lines, each by the property that only its lines have. */
const LINES = {
  record: z.object({
    chainHash: hash,
    number,
    personal: personal.optional(),
    pseudonyms: pseudonyms.optional(),
    record,
  }),
  omitted: z.object({ chainHash: hash, number, omitted: z.array(hash) }),
  header: z.object({ header: z.object({ version: z.number(), filter: fields, before: point }) }),
  keys: z.object({ keys: z.array(key) }),
  user: z.object({ user: z.object({ id: z.string(), username: z.string(), displayName: z.string() }) }),
  root: z.object({ root, signature: z.string() }),
  trailer: z.object({ trailer, signature: z.string() }),
  error: z.object({ error: z.object({ reason: z.string() }) }),
} satisfies Record<string, z.ZodType>

/** @returns the line with all its properties, also unknown ones; undefined when the text is no line of an export */
export function parsedLine(json: string): Line | undefined {
  const value = parsedText(json)
  if (typeof value !== 'object' || value === null) return undefined
  const kind = Object.entries(LINES).find(([property]) => Object.hasOwn(value, property))
  return kind?.[1].safeParse(value).success ? (value as Line) : undefined
}

/** The trailer in the JSON of a line; undefined for other lines. Its signature is not checked. */
export function parseTrailer(json: string): { trailer: Trailer; signature: string } | undefined {
  const line = parsedLine(json)
  return line && 'trailer' in line ? line : undefined
}

/** Why the service ended an export, in the JSON of a line; undefined for other lines. */
export function parseError(json: string): string | undefined {
  const line = parsedLine(json)
  return line && 'error' in line ? line.error.reason : undefined
}

/**
 * A head of the chain, alone or in an answer of GET /auditLog/proofs; undefined when the text has none. Its signature is not
 * checked.
 */
export function parseHead(json: string): { head: ChainHead; signature: string } | undefined {
  const value = parsedText(json)
  const found = z.object({ head: head.extend({ signature: z.string() }) }).safeParse(value)
  if (!found.success) return undefined
  const { signature, ...signedHead } = found.data.head
  return { head: signedHead, signature }
}

export const isStoredRecord = (value: unknown): value is StoredRecord => record.safeParse(value).success

/** Reads a key set, e.g. a copy of /.well-known/audit-keys.json. @throws Error when the text is none */
export function parseAuditKeys(json: string): AuditKey[] {
  const { success, data } = z.object({ keys: z.array(key).min(1) }).safeParse(parsedText(json))
  if (!success)
    throw new Error('no set of audit keys: it must be the content of /.well-known/audit-keys.json')
  return data.keys
}
