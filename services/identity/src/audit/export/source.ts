import {
  type AuditChain,
  type AuditDocument,
  type AuditKey,
  type AuditSigner,
  chainIn,
  type DayRootDocument,
  type PersonalFieldsOf,
  pointOf,
  usersOf,
} from '@gantry/audit'
import type { Collection } from '@gantry/read-models'
import { listing, type NamesOf } from '@gantry/service-kit'
import type { AuditConditions } from '../log/filter.ts'
import type { ExportedRecord, ExportSource } from './export.ts'

export interface ExportSourceOptions {
  records: Collection<AuditDocument>
  roots: Collection<DayRootDocument>
  namesOf: NamesOf
  personalOf: PersonalFieldsOf
  conditions: AuditConditions
  keys(): Promise<readonly AuditKey[]>
  signer(): Promise<AuditSigner>
}

/** The audit log, from its read model. */
export interface AuditSource extends ExportSource, AuditChain {
  /** Records after a number as they are stored, in order: at most `limit`. */
  stored(after: number, limit: number): Promise<AuditDocument[]>
}

const ROOTS_AT_ONCE = 1_000
const BY_NUMBER = [{ field: 'number', direction: 'asc' }] as const

export function auditSource(options: ExportSourceOptions): AuditSource {
  const { records, roots, namesOf, personalOf, conditions, keys, signer } = options
  const stored: AuditSource['stored'] = async (after, limit) => {
    const where = { number: { gt: after } }
    const found = await records.list({ where, sort: BY_NUMBER, limit, once: true })
    // A store can have a part of what a projector writes together: no record is passed over.
    const gap = found.findIndex(({ doc }, index) => doc.number !== after + 1 + index)
    return (gap === -1 ? found : found.slice(0, gap)).map(({ doc }) => doc)
  }
  return {
    ...chainIn(records),
    keys,
    signer,
    stored,
    async records(after, limit) {
      const documents = await stored(after, limit)
      const names = await namesOf(documents.flatMap(usersOf))
      return Promise.all(documents.map(doc => exported(doc, names, personalOf)))
    },
    async selection(filter) {
      const where = await conditions(filter)
      return async ({ after, to }) => {
        const page = { page: 1, size: to - after, sort: [...BY_NUMBER], ...filter }
        const found = await records.list(listing(page, { ...where, number: { gt: after, lte: to } }))
        return new Set(found.map(({ doc }) => doc.number))
      }
    },
    async roots(after) {
      const found: DayRootDocument[] = []
      for (;;) {
        const through = { gte: after }
        const sort = [{ field: 'day', direction: 'asc' }] as const
        const page = await roots.list({ where: { through }, sort, skip: found.length, limit: ROOTS_AT_ONCE })
        found.push(...page.map(({ doc }) => doc))
        if (page.length < ROOTS_AT_ONCE) return found.filter(({ root }) => root.after.number > after)
      }
    },
  }
}

/** Records of an erased user have no personal fields. @throws UserKeyMissing, so that no others lack theirs */
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
