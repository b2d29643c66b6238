import { type AuditRecords, auditLog } from '@gantry/audit'
import { listAuditLog } from '@gantry/contracts'
import { type AddRoute, listing, page } from '@gantry/service-runtime'
import type { ReadModels } from '@gantry/stores'
import { auditConditions } from './filter.ts'

export interface AuditRoutes {
  readModels: ReadModels
  recordsOf: AuditRecords
  /**
   * Waits for a limited time until the records include all events that are in the log now, so that callers see their
   * own changes.
   * @throws Refusal unavailable when it takes longer
   */
  upToDate(): Promise<void>
}

export function auditRoutes(route: AddRoute, { readModels, recordsOf, upToDate }: AuditRoutes): void {
  const records = readModels.collection(auditLog)
  const conditions = auditConditions(readModels)
  route(listAuditLog, async ({ query }) => {
    await upToDate()
    const sort = query.sort.map(({ field, direction }) => ({
      field: field === 'timestamp' ? 'when' : field,
      direction,
    }))
    const { where, textAs } = await conditions(query)
    const { items, total } = await records.find({ ...listing({ ...query, sort }, where), textAs })
    const content = await recordsOf(items.map(({ doc }) => doc))
    return { status: 200, body: page(content, total, query) }
  })
}
