import { canonicalJson } from './canonical-json.ts'
import type { ChainPoint } from './chain.ts'
import type { AuditKey, DayRoot, Trailer } from './statements.ts'

/** The form of a record that is hashed. It names users by id and has no personal fields. */
export interface StoredRecord {
  /** Id of the event. */
  id: string
  position: string
  /** Time of the append by the store's clock, ISO 8601 UTC; never before that of an earlier record. */
  recordedAt: string
  /** Time of the change, ISO 8601 UTC, by the clock of the process that made it. */
  timestamp: string
  /** `name` is the part of the service that acted; for a user it repeats the id. `address` is sealed with the user's key. */
  actor: { id: string | null; name: string; tokenId?: string; address?: string }
  action: string
  resourceType: string
  resourceId: string
  requestId: string
  details: { before: object | null; after: object | null }
  /** The time whose state a restored resource got again. */
  restoredTo?: string
  /** SHA-256 of the canonical JSON of the personal fields, for records that have some. */
  commitment?: string
  /** SHA-256 of the event as it is stored. */
  eventHash: string
  /** The hash of all events that the chain covers, up to this one. */
  logHash: string
}

/** The personal fields of a record, which its commitment proves. */
export interface PersonalFields {
  salt: string
  before: object | null
  after: object | null
}

/** HMACs of the personal fields of a record in a pushed export. Only the trailer proves them. */
export type Pseudonyms = Omit<PersonalFields, 'salt'>

/** Current names of a user. They are resolved at the time of the export; the chain does not contain them. */
export interface UserNames {
  id: string
  username: string
  displayName: string
}

/** The first line of an export, and of each continuation. */
export interface Header {
  version: 1
  filter: Readonly<Record<string, unknown>>
  /** The chain before the next line. */
  before: ChainPoint
}

export interface RecordLine {
  /** The chain hash after the record. */
  chainHash: string
  number: number
  /** Left out once the user is erased. */
  personal?: PersonalFields
  /** In pushed exports in place of `personal`. */
  pseudonyms?: Pseudonyms
  record: StoredRecord
}

/** Consecutive records that the filter leaves out. */
export interface OmittedLine {
  /** The chain hash after the last of them. */
  chainHash: string
  /** Number of the last of them. */
  number: number
  /** Their record hashes. */
  omitted: string[]
}

/**
 * A line of an NDJSON export: one object in canonical JSON. In CSV and CEF, each row contains the line as well.
 * `user` stands before the first record of each part (up to a trailer) that names the user.
 */
export type Line =
  | { header: Header }
  | { keys: AuditKey[] }
  | { user: UserNames }
  | RecordLine
  | OmittedLine
  | { root: DayRoot; signature: string }
  | { trailer: Trailer; signature: string }
  /** In place of the last trailer: why the export ends. */
  | { error: { reason: string } }

const RECORD = ',"record":'

/** The canonical JSON of a record line, from the canonical JSON of its record. `record` is the last of its properties. */
export const recordLine = (line: Omit<RecordLine, 'record'>, record: string): string =>
  `${canonicalJson(line).slice(0, -1)}${RECORD}${record}}`
