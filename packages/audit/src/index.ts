export { canonicalJson } from './canonical-json.ts'
export { CHAIN_START, type ChainPoint, nextHash, sha256 } from './chain.ts'
export {
  type AuditCheck,
  AuditLogBroken,
  auditCheck,
  leadsTo,
  missingRecord,
  recordProblem,
} from './check.ts'
export { startClosingDays } from './closed-days.ts'
export { DAY_ROOT_STREAM, DAY_ROOTS, type DayRootDocument, dayRootIn, dayRoots, rootIn } from './day-root.ts'
export { type ChainedRecord, type ExportedSoFar, ExportWriter, type RecordNames } from './export-writer.ts'
export { errorLine, exportFormats, type FormatName } from './formats.ts'
export { type AuditHead, auditHead } from './head.ts'
export type { PersonalFields, StoredRecord } from './lines.ts'
export { parseAuditKeys, parseError, parseHead, parseTrailer } from './lines.ts'
export {
  type AuditDocument,
  auditCollections,
  auditedApis,
  auditLog,
  auditProjection,
} from './log.projection.ts'
export { type AuditChain, chainIn, pointOf } from './log-chain.ts'
export { type ProvenPlace, verifyLog } from './log-verifier.ts'
export { type AuditKeys, type PersonalFieldsOf, UserKeyMissing } from './ports.ts'
export { type AuditRecords, auditRecords, usersOf } from './record.ts'
export {
  type AuditKey,
  type AuditKeySet,
  type AuditSigner,
  type ChainHead,
  type DayRoot,
  refutes,
  signStatement,
  type Trailer,
} from './statements.ts'
export { type Verification, verifiedRecords, verifyExport } from './verifier.ts'
