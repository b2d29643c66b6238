import { Refusal } from '@gantry/contracts'
import { type OrderedProjection, Projector } from '@gantry/event-sourcing'
import type { Instrumented } from '@gantry/service-kit'
import { auditDays, auditLog, auditProjection } from './audit.projection.ts'
import { dayRoots } from './day-root.ts'

/** Maximum time that a list of the audit log waits for the projector, in milliseconds. */
const TIMEOUT_MS = 3_000

/** What the projector of the audit log makes. */
export const AUDIT_COLLECTIONS = [auditLog, auditDays, dayRoots]

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
    projections: auditProjection as OrderedProjection,
    collections: AUDIT_COLLECTIONS,
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
