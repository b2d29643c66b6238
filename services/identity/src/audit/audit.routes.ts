import { listAuditLog, normalUsername } from '@gantry/contracts'
import type { ReadModels } from '@gantry/read-models'
import { type AddRoute, listing, page } from '@gantry/service-kit'
import { users as userDocuments } from '../user/user.projection.ts'
import { auditLog } from './audit.projection.ts'
import type { AuditRecords } from './audit-record.ts'

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
  const users = readModels.collection(userDocuments)
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
          who: user === undefined ? undefined : { in: [user, ...(await idsNamed(user))] },
          action,
          what: resource,
        },
      ),
    )
    return {
      status: 200,
      body: page(await recordsOf(items.map(({ doc }) => doc)), total, query),
    }
  })

  /** The id of the user with a username, if there is one. */
  const idsNamed = async (username: string): Promise<string[]> => {
    const named = await users.list({ where: { username: normalUsername(username) }, limit: 1 })
    return named.map(({ doc }) => doc.id)
  }
}

/** The last time that ISO 8601 writes with a four-digit year. */
const END_OF_TIME = Date.parse('9999-12-31T23:59:59.999Z')

/** Converts a time with any offset to the format of stored timestamps, which compare as text. */
const instant = (time: string) => new Date(Math.min(Date.parse(time), END_OF_TIME)).toISOString()
