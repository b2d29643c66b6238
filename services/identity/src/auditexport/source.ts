import type { AuditKey, AuditSigner, ChainPoint } from '@gantry/audit-proofs'
import type { Collection, Condition } from '@gantry/read-models'
import { listing, type NamesOf } from '@gantry/service-kit'
import type { AuditDocument } from '../audit/audit.projection.ts'
import type { AuditConditions } from '../audit/audit-filter.ts'
import type { PersonalFieldsOf } from '../audit/audit-record.ts'
import type { DayRootDocument } from '../audit/day-root.ts'
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
export interface AuditSource extends ExportSource {
  /** The chain after a record; undefined when there is no such record. */
  pointAt(number: number): Promise<ChainPoint | undefined>
  /** The chain after the last record; undefined when there is none. */
  last(): Promise<ChainPoint | undefined>
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/
const ROOTS_AT_ONCE = 1_000
const BY_NUMBER = [{ field: 'number', direction: 'asc' }] as const

export function auditSource(options: ExportSourceOptions): AuditSource {
  const { records, roots, namesOf, personalOf, conditions, keys, signer } = options
  const first = async (where: Record<string, Condition>, direction: 'asc' | 'desc') => {
    const [found] = await records.list({ where, sort: [{ field: 'number', direction }], limit: 1 })
    return found && pointOf(found.doc)
  }
  return {
    keys,
    signer,
    pointAt: number => first({ number }, 'asc'),
    last: () => first({}, 'desc'),
    async records(after, limit) {
      const found = await records.list({
        where: { number: { gt: after } },
        sort: BY_NUMBER,
        limit,
        once: true,
      })
      // A store can have a part of what a projector writes together: no record is passed over.
      const gap = found.findIndex(({ doc }, index) => doc.number !== after + 1 + index)
      const documents = (gap === -1 ? found : found.slice(0, gap)).map(({ doc }) => doc)
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

/** The users that a record names: the actor, unless it is a part of the service, and the changed user. */
const usersOf = ({ who, resourceType, resourceId }: AuditDocument): string[] =>
  [who, resourceType === 'USER' ? resourceId : ''].filter(id => UUID.test(id))

const pointOf = ({ number, when, chainHash }: AuditDocument): ChainPoint => ({
  number,
  position: when.slice(when.indexOf('/') + 1),
  chainHash,
})

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
