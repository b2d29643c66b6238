import { type listAuditLog, normalUsername, type Parsed, utcTime } from '@gantry/contracts'
import type { Collection, Condition } from '@gantry/stores'
import type { UserDocument } from '../../user/user.projection.ts'

/** Filters of the audit log as the caller wrote them. */
export type AuditFilter = Pick<
  Parsed<NonNullable<typeof listAuditLog.query>>,
  'text' | 'from' | 'to' | 'user' | 'action' | 'resource'
>

/** The conditions of a filter, without its search terms. */
export type AuditConditions = (filter: AuditFilter) => Promise<Record<string, Condition | undefined>>

export const auditConditions = (users: Collection<UserDocument>): AuditConditions => {
  /** The id of the user with a username, if there is one. */
  const idsNamed = async (username: string): Promise<string[]> => {
    const named = await users.list({ where: { username: normalUsername(username) }, limit: 1 })
    return named.map(({ doc }) => doc.id)
  }
  return async ({ from, to, user, action, resource }) => ({
    when: from || to ? { ...(from && { gte: utcTime(from) }), ...(to && { lt: utcTime(to) }) } : undefined,
    who: user === undefined ? undefined : { in: [user, ...(await idsNamed(user))] },
    action,
    what: resource,
  })
}
