import type { OrderedRun } from '@gantry/event-sourcing'
import type { Checkpoints, Lease } from '@gantry/stores'
import type { ChainEnd } from './chain.ts'
import type { AuditState } from './log.projection.ts'
import { chainIn } from './log-chain.ts'
import type { Seal } from './ports.ts'

/** Name under which the head is kept, beside the read models and their generations. */
const HEAD = 'identity.audit.head'

/**
 * The end of the chains that was projected last, sealed with a key that is derived from ENCRYPTION_KEY. It covers what no
 * root of a day covers yet: read models that are made again have to lead to it.
 */
export interface AuditHead {
  /** Undefined when there is none. @throws HeadForged */
  read(): Promise<ChainEnd | undefined>
  save(end: ChainEnd, lease?: Lease): Promise<void>
  /** Why the projection of this process does not continue from the head; undefined while it does. */
  readonly problem: string | undefined
  /** Renews the head with each batch of a run that leads to it. Does not create a missing head. */
  observe(run: OrderedRun): { reached(state: AuditState): Promise<void> }
}

/** The head was changed, or sealed with another ENCRYPTION_KEY. */
export class HeadForged extends Error {
  constructor() {
    super('the head of the audit log was not sealed with ENCRYPTION_KEY')
    this.name = 'HeadForged'
  }
}

export const differsFromHead = ({ log }: ChainEnd) =>
  `the log differs from the head of the audit log at position ${log.position}`

export function auditHead(checkpoints: Checkpoints, seal: Seal): AuditHead {
  let problem: string | undefined
  const read: AuditHead['read'] = async () => {
    const sealed = await checkpoints.get(HEAD)
    try {
      return sealed === undefined ? undefined : JSON.parse(Buffer.from(seal.open(sealed)).toString())
    } catch {
      throw new HeadForged()
    }
  }
  const save: AuditHead['save'] = ({ record, log }, lease) =>
    checkpoints.save(HEAD, seal.seal(JSON.stringify({ record, log })), lease)
  return {
    read,
    save,
    get problem() {
      return problem
    },
    observe(run) {
      const chain = chainIn(run)
      /** Number of events up to the head; undefined until the run has been compared with it. */
      let compared: number | undefined
      const reached = async (state: AuditState) => {
        if (compared === undefined) {
          const head = await read().catch(unlessForged)
          if (!head || state.log.events < head.log.events) return
          const leads = await chain.leads(head.log, state.log)
          problem = leads ? undefined : differsFromHead(head)
          if (!leads) return
          compared = head.log.events
        }
        if (state.log.events <= compared) return
        await save(state, run.lease)
        compared = state.log.events
      }
      return { reached }
    },
  }
}

function unlessForged(error: unknown): undefined {
  if (!(error instanceof HeadForged)) throw error
}
