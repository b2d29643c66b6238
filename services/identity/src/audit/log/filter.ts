import { auditedApis } from '@gantry/audit'
import { type listAuditLog, normalUsername, type Parsed, utcTime } from '@gantry/contracts'
import { termsOf } from '@gantry/service-runtime'
import type { Condition, Query, ReadModels } from '@gantry/stores'
import { users } from '../../user/user.projection.ts'

/** Filters of the audit log as the caller wrote them. */
export type AuditFilter = Pick<
  Parsed<NonNullable<typeof listAuditLog.query>>,
  'text' | 'from' | 'to' | 'user' | 'action' | 'resource'
>

/** The conditions of a filter without its terms, and the APIs that are named by these, whose changes are found too. */
export type AuditConditions = (filter: AuditFilter) => Promise<{
  where: Record<string, Condition | undefined>
  textAs: NonNullable<Query['textAs']>
}>

/** Terms that are searched in the names of APIs, and the APIs that are found by each. */
const MOST_TERMS = 10
const MOST_APIS = 1_000

export const auditConditions = (readModels: Pick<ReadModels, 'collection'>): AuditConditions => {
  const named = readModels.collection(users)
  const apis = readModels.collection(auditedApis)
  /** The id of the user with a username, if there is one. */
  const idsNamed = async (username: string): Promise<string[]> => {
    const found = await named.list({ where: { username: normalUsername(username) }, limit: 1 })
    return found.map(({ doc }) => doc.id)
  }
  const apisNamed = async (term: string) => {
    const found = await apis.list({ text: [term], limit: MOST_APIS })
    return [term, found.map(({ doc }) => doc.id)] as const
  }
  return async ({ text, from, to, user, action, resource }) => {
    const terms = termsOf(text).slice(0, MOST_TERMS)
    return {
      where: {
        when:
          from || to ? { ...(from && { gte: utcTime(from) }), ...(to && { lt: utcTime(to) }) } : undefined,
        who: user === undefined ? undefined : { in: [user, ...(await idsNamed(user))] },
        action,
        what: resource,
      },
      textAs: { field: 'what', values: Object.fromEntries(await Promise.all(terms.map(apisNamed))) },
    }
  }
}
