import { parsedText } from '@gantry/event-sourcing'
import { z } from 'zod'
import { canonicalJson } from './canonical-json.ts'
import {
  type AuditKey,
  type ChainHead,
  hashSchema,
  headSchema,
  keySchema,
  numberSchema,
  pointSchema,
  rootSchema,
  type Trailer,
  trailerSchema,
} from './statements.ts'

const fields = z.record(z.string(), z.unknown())

/** The form of a record that is hashed. It names users by id and has no personal fields. */
const storedRecord = z.object({
  /** Id of the event. */
  id: z.string(),
  position: z.string(),
  /** Time of the append by the store's clock, ISO 8601 UTC; never before that of an earlier record. */
  recordedAt: z.string(),
  /** Time of the change, ISO 8601 UTC, by the clock of the process that made it. */
  timestamp: z.string(),
  /** `name` is the part of the service that acted; for a user it repeats the id. `address` is sealed with the user's key. */
  actor: z.object({
    id: z.string().nullable(),
    name: z.string(),
    tokenId: z.string().exactOptional(),
    address: z.string().exactOptional(),
  }),
  action: z.string(),
  resourceType: z.string(),
  resourceId: z.string(),
  requestId: z.string(),
  details: z.object({ before: fields.nullable(), after: fields.nullable() }),
  /** The time whose state a restored resource got again. */
  restoredTo: z.string().exactOptional(),
  /** The id of the environment of a deployment or an undeployment. */
  environment: z.string().exactOptional(),
  /** SHA-256 of the canonical JSON of the personal fields, for records that have some. */
  commitment: z.string().exactOptional(),
  /** SHA-256 of the event as it is stored. */
  eventHash: hashSchema,
  /** The hash of all events that the chain covers, up to this one. */
  logHash: hashSchema,
})
export type StoredRecord = z.infer<typeof storedRecord>

/** HMACs of the personal fields of a record in a pushed export. Only the trailer proves them. */
const pseudonyms = z.object({ before: fields.nullable(), after: fields.nullable() })
export type Pseudonyms = z.infer<typeof pseudonyms>

/** The personal fields of a record, which its commitment proves. */
const personalFields = pseudonyms.extend({ salt: z.string() })
export type PersonalFields = z.infer<typeof personalFields>

/** Current names of a user. They are resolved at the time of the export; the chain does not contain them. */
const userNames = z.object({ id: z.string(), username: z.string(), displayName: z.string() })
export type UserNames = z.infer<typeof userNames>

/** The first line of an export, and of each continuation. `before` is the chain before the next line. */
const header = z.object({ version: z.number(), filter: fields, before: pointSchema })
export type Header = z.infer<typeof header>

const recordLineSchema = z.object({
  /** The chain hash after the record. */
  chainHash: hashSchema,
  number: numberSchema,
  /** Left out once the user is erased. */
  personal: personalFields.exactOptional(),
  /** In pushed exports in place of `personal`. */
  pseudonyms: pseudonyms.exactOptional(),
  record: storedRecord,
})
export type RecordLine = z.infer<typeof recordLineSchema>

/** The hashes of consecutive records that the filter leaves out. Number and chain hash are those of the last one. */
const omittedLine = z.object({ chainHash: hashSchema, number: numberSchema, omitted: z.array(hashSchema) })
export type OmittedLine = z.infer<typeof omittedLine>

/** The kinds of lines, each by the property that only its lines have. */
const LINES = {
  record: recordLineSchema,
  omitted: omittedLine,
  header: z.object({ header }),
  keys: z.object({ keys: z.array(keySchema) }),
  user: z.object({ user: userNames }),
  root: z.object({ root: rootSchema, signature: z.string() }),
  trailer: z.object({ trailer: trailerSchema, signature: z.string() }),
  /** In place of the last trailer: why the export ends. */
  error: z.object({ error: z.object({ reason: z.string() }) }),
}

/**
 * A line of an NDJSON export: one object in canonical JSON. In CSV and CEF, each row contains the line as well.
 * `user` stands before the first record of each part (up to a trailer) that names the user.
 */
export type Line = z.infer<(typeof LINES)[keyof typeof LINES]>

const RECORD = ',"record":'

/** The canonical JSON of a record line, from the canonical JSON of its record. `record` is the last of its properties. */
export const recordLine = (line: Omit<RecordLine, 'record'>, record: string): string =>
  `${canonicalJson(line).slice(0, -1)}${RECORD}${record}}`

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
  const found = z.object({ head: headSchema.extend({ signature: z.string() }) }).safeParse(value)
  if (!found.success) return undefined
  const { signature, ...signedHead } = found.data.head
  return { head: signedHead, signature }
}

export const isStoredRecord = (value: unknown): value is StoredRecord => storedRecord.safeParse(value).success

/** Reads a key set, e.g. a copy of /.well-known/audit-keys.json. @throws Error when the text is none */
export function parseAuditKeys(json: string): AuditKey[] {
  const { success, data } = z.object({ keys: z.array(keySchema).min(1) }).safeParse(parsedText(json))
  if (!success)
    throw new Error('no set of audit keys: it must be the content of /.well-known/audit-keys.json')
  return data.keys
}
