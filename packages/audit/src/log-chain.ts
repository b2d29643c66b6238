import type { OrderedRun } from '@gantry/event-sourcing'
import { CHAIN_START, type ChainEnd, type ChainPoint, LOG_START, type LogPoint } from './chain.ts'
import { blockOf, eventBlocks, hashIn, lastOf } from './covered-events.ts'
import { type AuditDocument, auditDays, auditLog } from './log.projection.ts'

/** The chains of the audit log, as the read models have them. */
export interface AuditChain {
  /** The chain after a record, or its start for 0; undefined when there is no such record. */
  pointAt(number: number): Promise<ChainPoint | undefined>
  /** The end of both chains. */
  end(): Promise<ChainEnd>
  /** The hash of the log after that number of covered events; undefined when there are fewer. */
  hashAt(events: number): Promise<string | undefined>
  /** Whether the hashes of the events between lead from one place in the log to a later one. */
  leads(from: LogPoint, to: LogPoint): Promise<boolean>
}

/** The chain after a record. */
export const pointOf = ({ number, when, chainHash }: AuditDocument): ChainPoint => ({
  number,
  position: when.slice(when.indexOf('/') + 1),
  chainHash,
})

export function chainIn(models: Pick<OrderedRun, 'collection'>): AuditChain {
  const hashAt = async (events: number) => {
    if (events === 0) return LOG_START.hash
    const block = await models.collection(eventBlocks).get(blockOf(events))
    return block && hashIn(block.doc, events)
  }
  return {
    hashAt,
    async pointAt(number) {
      if (number === 0) return CHAIN_START
      const [found] = await models.collection(auditLog).list({ where: { number }, limit: 1 })
      return found && pointOf(found.doc)
    },
    async end() {
      const sort = [{ field: 'events', direction: 'desc' }] as const
      const [last] = await models.collection(auditDays).list({ sort, limit: 1 })
      return last ? { record: last.doc.record, log: last.doc.log } : { record: CHAIN_START, log: LOG_START }
    },
    async leads(from, to) {
      let { events: at, hash } = from
      if (at > to.events || (await hashAt(at)) !== hash) return false
      while (at < to.events) {
        const block = (await models.collection(eventBlocks).get(blockOf(at + 1)))?.doc
        if (!block || hashIn(block, at) !== hash) return false
        at = Math.min(to.events, lastOf(block))
        hash = hashIn(block, at) ?? ''
      }
      return hash === to.hash
    },
  }
}
