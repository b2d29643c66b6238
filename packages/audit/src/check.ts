import { setImmediate } from 'node:timers/promises'
import type { EventStore } from '@gantry/event-sourcing'
import type { ReadModels } from '@gantry/stores'
import type { ChainPoint } from './chain.ts'
import { DAY_ROOT_STREAM, dayRoots, rootIn, type SignedRoot } from './day-root.ts'
import { type AuditHead, differsFromHead, HeadForged } from './head.ts'
import { type AuditDocument, auditDays, auditLog, isIntact } from './log.projection.ts'
import { type AuditChain, chainIn, pointOf } from './log-chain.ts'
import type { AuditKeys } from './ports.ts'
import { refutes } from './statements.ts'

export interface AuditCheckOptions {
  eventStore: Pick<EventStore, 'readLast' | 'head'>
  readModels: Pick<ReadModels, 'collection'>
  head: AuditHead
  keys: Pick<AuditKeys, 'own' | 'since'>
  now(): Date
}

/** What the audit log is compared with before anything is signed. */
export interface AuditCheck {
  /**
   * Why nothing may be signed; undefined when the audit log leads to its last signed root and to its head. To be called when
   * the read models contain the log.
   */
  problem(): Promise<string | undefined>
  /**
   * Compares records with the chain, from a place in it on. @param to number of the last record
   * @returns the place that was reached, and what is wrong with the record after it
   */
  records(from: ChainPoint, to: number): Promise<{ reached: ChainPoint; problem?: string }>
}

/** The audit log cannot be exported or signed, because it was changed. */
export class AuditLogBroken extends Error {
  override name = 'AuditLogBroken'
}

const PAGE = 250
/** How long the first start of an installation may take. It may cross midnight. */
const STARTING_MS = 10 * 60_000
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

export function auditCheck({ eventStore, readModels, head, keys, now }: AuditCheckOptions): AuditCheck {
  const chain = chainIn(readModels)
  const records = readModels.collection(auditLog)

  /** Once set, it stays: the log grows and passes the position of the head again. */
  let cutOff: string | undefined
  const headProblem = async (): Promise<string | undefined> => {
    const expected = await head.read()
    if (!expected) return undefined
    const { log, record } = expected
    const [end, last] = await Promise.all([chain.end(), eventStore.head()])
    if (end.log.events < log.events || last < log.position)
      cutOff = `the log ends before the head of the audit log at position ${log.position}: its end was cut off`
    if (cutOff) return cutOff
    const [hash, point] = [await chain.hashAt(log.events), await chain.pointAt(record.number)]
    return hash === log.hash && point?.chainHash === record.chainHash ? undefined : differsFromHead(expected)
  }

  const rootProblem = async ({ root, signature }: SignedRoot): Promise<string | undefined> => {
    if (refutes({ root }, signature, await keys.own()))
      return `the signature of the root of ${root.day} is not one of this service`
    if (!(await leadsTo(chain, root))) return `the log differs from the signed root of ${root.day}`
    return undefined
  }

  const rootsProblem = async (): Promise<string | undefined> => {
    const event = await eventStore.readLast(DAY_ROOT_STREAM)
    const last = event && rootIn(event)
    const [newest] = await readModels
      .collection(dayRoots)
      .list({ sort: [{ field: 'day', direction: 'desc' }], limit: 1 })
    if (newest && newest.doc.day > (last?.root.day ?? '')) return `the root of ${newest.doc.day} is missing`
    if (last) return rootProblem(last)
    return (await head.read()) || (await isNew()) ? undefined : 'the root of an earlier day is missing'
  }

  /**
   * Whether the installation began today and therefore has no root yet. The time sealed with its first key says so,
   * because it cannot be forged.
   */
  const isNew = async (): Promise<boolean> => {
    const since = await keys.since()
    if (since === undefined) return true
    const [began, present] = [Date.parse(since), now().getTime()]
    const sort = [{ field: 'events', direction: 'asc' }] as const
    const [first] = await readModels.collection(auditDays).list({ sort, limit: 1 })
    if (first && first.doc.id < dayOf(began - STARTING_MS)) return false
    return dayOf(began) === dayOf(present) || present - began < STARTING_MS
  }

  return {
    async problem() {
      try {
        return head.problem ?? (await headProblem()) ?? (await rootsProblem())
      } catch (error) {
        if (!(error instanceof HeadForged)) throw error
        return error.message
      }
    },
    async records(from, to) {
      let reached = from
      while (reached.number < to) {
        const where = { number: { gt: reached.number, lte: to } }
        const sort = [{ field: 'number', direction: 'asc' }] as const
        const page = await records.list({ where, sort, limit: PAGE, once: true })
        for (const { doc } of page) {
          const problem = recordProblem(doc, reached)
          if (problem) return { reached, problem }
          reached = pointOf(doc)
        }
        if (page.length === 0) return { reached, problem: missingRecord(reached.number + 1) }
        await setImmediate()
      }
      return { reached }
    },
  }
}

export const missingRecord = (number: number) =>
  `record ${number} is missing in the read model of the audit log`

/** What is wrong with a record that is read after a place in the chain; undefined for nothing. */
export function recordProblem(doc: AuditDocument, before: ChainPoint): string | undefined {
  if (doc.number !== before.number + 1) return missingRecord(before.number + 1)
  return isIntact(doc, before)
    ? undefined
    : `record ${doc.number} was changed in the read model of the audit log`
}

/** Whether the chain and the log in the read models lead to the end of a day. */
export async function leadsTo(
  chain: AuditChain,
  { after, log }: Pick<SignedRoot['root'], 'after' | 'log'>,
): Promise<boolean> {
  const [point, hash] = await Promise.all([chain.pointAt(after.number), chain.hashAt(log.events)])
  return point?.chainHash === after.chainHash && point.position === after.position && hash === log.hash
}
