import { Refusal } from '@gantry/contracts'
import { Projector } from '@gantry/event-sourcing'
import type { Instrumented } from '@gantry/service-kit'
import { auditLog, auditProjections } from './audit.projection.ts'

/** Maximum time that a list of the audit log waits for the projector, in milliseconds. */
const TIMEOUT_MS = 3_000

export interface Auditor {
  projector: Projector
  /** Resolves when the audit log has all events that are in the log now. @throws Refusal unavailable after a timeout */
  upToDate(): Promise<void>
}

/** Projects the audit log. While it is behind, only lists of the audit log are refused: the service does not wait for it. */
export function auditor(dependencies: Instrumented): Auditor {
  const projector = new Projector({
    ...dependencies,
    ...dependencies.process,
    name: 'identity.audit',
    projections: auditProjections,
    collections: [auditLog],
    background: true,
  })
  return {
    projector,
    async upToDate() {
      if (await projector.reached(await dependencies.eventStore.head(), TIMEOUT_MS)) return
      throw new Refusal('unavailable', { detail: 'the audit log does not have the latest changes yet' })
    },
  }
}
