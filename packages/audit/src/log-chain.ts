import type { Collection, Condition } from '@gantry/read-models'
import { CHAIN_START, type ChainPoint } from './chain.ts'
import type { AuditDocument } from './log.projection.ts'

/** The hash chain of the audit log. */
export interface AuditChain {
  /** The chain after a record, or its start for 0; undefined when there is no such record. */
  pointAt(number: number): Promise<ChainPoint | undefined>
  /** The chain after the last record. */
  last(): Promise<ChainPoint>
}

/** The chain after a record. */
export const pointOf = ({ number, when, chainHash }: AuditDocument): ChainPoint => ({
  number,
  position: when.slice(when.indexOf('/') + 1),
  chainHash,
})

export function chainIn(records: Collection<AuditDocument>): AuditChain {
  const first = async (where: Record<string, Condition>, direction: 'asc' | 'desc') => {
    const [found] = await records.list({ where, sort: [{ field: 'number', direction }], limit: 1 })
    return found && pointOf(found.doc)
  }
  return {
    pointAt: async number => (number === 0 ? CHAIN_START : first({ number }, 'asc')),
    last: async () => (await first({}, 'desc')) ?? CHAIN_START,
  }
}
