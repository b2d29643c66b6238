import { listAuditLog } from '@gantry/contracts'
import type { Collection } from '@gantry/read-models'
import { type AddRoute, listing, page } from '@gantry/service-kit'
import { type AuditDocument, auditRecord } from './audit.projection.ts'

export interface AuditRoutes {
  records: Collection<AuditDocument>
  /**
   * Waits, bounded, until the records have everything that is in the log now: callers see what they have done.
   * @throws Refusal unavailable when that takes longer
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

/** The last instant that ISO 8601 writes with four digits for the year. */
const END_OF_TIME = Date.parse('9999-12-31T23:59:59.999Z')

/** A time with any offset in the form that timestamps are stored in, so that they compare as text. */
const instant = (time: string) => new Date(Math.min(Date.parse(time), END_OF_TIME)).toISOString()
