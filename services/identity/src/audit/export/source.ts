import {
  type AuditChain,
  type AuditCheck,
  type AuditDocument,
  type AuditKey,
  AuditLogBroken,
  type AuditSigner,
  auditLog,
  type ChainPoint,
  chainIn,
  type DayRootDocument,
  dayRoots,
  missingRecord,
  type PersonalFieldsOf,
  pointOf,
  recordProblem,
  usersOf,
} from '@gantry/audit'
import { listing, type NamesOf } from '@gantry/service-runtime'
import { pagesOf, type ReadModels } from '@gantry/stores'
import type { AuditConditions } from '../log/filter.ts'
import type { ExportedRecord, ExportSource } from './export.ts'

export interface ExportSourceOptions {
  readModels: Pick<ReadModels, 'collection'>
  namesOf: NamesOf
  personalOf: PersonalFieldsOf
  conditions: AuditConditions
  keys(): Promise<readonly AuditKey[]>
  signer(): Promise<AuditSigner>
  check: Pick<AuditCheck, 'problem'>
}

/** The audit log, from its read model. */
export interface AuditSource extends ExportSource, AuditChain {
  /** Records after a number as they are stored, in order: at most `limit`. */
  stored(after: number, limit: number): Promise<AuditDocument[]>
}

const ROOTS_AT_ONCE = 1_000
const BY_NUMBER = [{ field: 'number', direction: 'asc' }] as const

export function auditSource(options: ExportSourceOptions): AuditSource {
  const { readModels, namesOf, personalOf, conditions, keys, signer, check } = options
  const records = readModels.collection(auditLog)
  const roots = readModels.collection(dayRoots)
  const stored: AuditSource['stored'] = async (after, limit) => {
    const where = { number: { gt: after } }
    const found = await records.list({ where, sort: BY_NUMBER, limit, once: true })
    // A store can have a part of what a projector writes together: no record is passed over.
    const gap = found.findIndex(({ doc }, index) => doc.number !== after + 1 + index)
    return (gap === -1 ? found : found.slice(0, gap)).map(({ doc }) => doc)
  }
  return {
    ...chainIn(readModels),
    keys,
    signer,
    stored,
    async requireValid() {
      const problem = await check.problem()
      if (problem) throw new AuditLogBroken(problem)
    },
    async records(after, limit) {
      const documents = await stored(after.number, limit)
      requireIntact(documents, after)
      const names = await namesOf(documents.flatMap(usersOf))
      return Promise.all(documents.map(doc => exported(doc, names, personalOf)))
    },
    async selection(filter) {
      const { where, textAs } = await conditions(filter)
      return async ({ after, to }) => {
        const page = { page: 1, size: to - after, sort: [...BY_NUMBER], ...filter }
        const part = listing(page, { ...where, number: { gt: after, lte: to } })
        const found = await records.list({ ...part, textAs })
        return new Set(found.map(({ doc }) => doc.number))
      }
    },
    async roots(after) {
      const found: DayRootDocument[] = []
      const where = { through: { gte: after } }
      for await (const page of pagesOf(roots, { where, by: 'day', size: ROOTS_AT_ONCE })) found.push(...page)
      return found.filter(({ root }) => root.after.number > after)
    },
  }
}

/** @throws AuditLogBroken unless each record follows from the one before, the first one from a place in the chain */
function requireIntact(documents: readonly AuditDocument[], after: ChainPoint): void {
  let before = after
  for (const doc of documents) {
    const problem = recordProblem(doc, before)
    if (problem) throw new AuditLogBroken(problem)
    before = pointOf(doc)
  }
  if (documents.length === 0) throw new AuditLogBroken(missingRecord(after.number + 1))
}

/**
 * Records as an export shows them; without personal fields for an erased user.
 * @throws UserKeyMissing instead of leaving out the fields of another user
 */
async function exported(
  doc: AuditDocument,
  names: Awaited<ReturnType<NamesOf>>,
  personalOf: PersonalFieldsOf,
): Promise<ExportedRecord> {
  const { recordHash, record, resourceId } = doc
  const users = usersOf(doc).flatMap(id => {
    const name = names.get(id)
    return name ? [{ id, username: name.username, displayName: name.displayName }] : []
  })
  const personal = await personalOf(doc)
  return {
    chained: { ...pointOf(doc), recordHash, record },
    names: { users, ...(personal && names.has(resourceId) && { personal }) },
  }
}
