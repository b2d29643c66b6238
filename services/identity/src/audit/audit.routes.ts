import { listAuditLog } from '@gantry/contracts'
import type { Collection } from '@gantry/read-models'
import { type AddRoute, listing, page } from '@gantry/service-kit'
import { type AuditDocument, auditRecord } from './audit.projection.ts'

export interface AuditRoutes {
  records: Collection<AuditDocument>
  /**
   * Waits for a limited time until the records include all events that are in the log now, so that callers see their
   * own changes.
   * @throws Refusal unavailable when it takes longer
   */
  upToDate(): Promise<void>
}

export function auditRoutes(route: AddRoute, { records, upToDate }: AuditRoutes): void {
  route(listAuditLog, async ({ query }) => {
    await upToDate()
    const { from, to, user, action, resource } = query
    const { items, total } = await records.find(
      listing(
        {
          ...query,
          sort: query.sort.map(({ field, direction }) => ({
            field: field === 'timestamp' ? 'when' : field,
            direction,
          })),
        },
        {
          when:
            from || to ? { ...(from && { gte: instant(from) }), ...(to && { lt: instant(to) }) } : undefined,
          who: user,
          action,
          what: resource,
        },
      ),
    )
    return {
      status: 200,
      body: page(
        items.map(({ doc }) => auditRecord(doc)),
        total,
        query,
      ),
    }
  })
}

/** The last time that ISO 8601 writes with a four-digit year. */
const END_OF_TIME = Date.parse('9999-12-31T23:59:59.999Z')

/** Converts a time with any offset to the format of stored timestamps, which compare as text. */
const instant = (time: string) => new Date(Math.min(Date.parse(time), END_OF_TIME)).toISOString()
