import {
  type AuditKeys,
  auditDays,
  auditLog,
  auditProjection,
  dayRoots,
  startClosingDays,
} from '@gantry/audit'
import { Refusal } from '@gantry/contracts'
import { type CommandMetadata, type OrderedProjection, Projector, type Worker } from '@gantry/event-sourcing'
import { foreignEvents, type Instrumented } from '@gantry/service-kit'
import { keysOf, rotationOf } from '../signingkey/key-ring.ts'
import type { SigningKeys } from '../signingkey/keys.ts'
import type { KeyRotation } from '../signingkey/rotation.ts'
import { auditKeys } from './proofs/keys.ts'

/** Maximum time that a list of the audit log waits for the projector, in milliseconds. */
const TIMEOUT_MS = 3_000

/** What the projector of the audit log makes. */
export const AUDIT_COLLECTIONS = [auditLog, auditDays, dayRoots]

export interface Auditor {
  projector: Projector
  keys: AuditKeys
  /** The private keys of `keys`. */
  ring: SigningKeys
  rotation: KeyRotation
  workers: (() => Worker)[]
  /** Resolves when the audit log has all events that are in the log now. @throws Refusal unavailable after a timeout */
  upToDate(): Promise<void>
}

/**
 * Projects the audit log and signs its proofs. While the projector is behind, only lists of the audit log are refused: the
 * service does not wait for it.
 */
export function auditor(dependencies: Instrumented, metadata: (actor?: string) => CommandMetadata): Auditor {
  const { eventStore, readModels, now, newId, process } = dependencies
  const { log } = process
  const projector = new Projector({
    ...dependencies,
    ...process,
    name: 'identity.audit',
    ordered: auditProjection(foreignEvents(process)) as OrderedProjection,
    collections: AUDIT_COLLECTIONS,
    background: true,
  })
  const ring = keysOf('audit', dependencies, metadata)
  const rotation = rotationOf('audit', { keys: ring, periodMs: 0, metadata, rotated: async () => {}, log })
  const keys = auditKeys(ring)
  const closing = { eventStore, readModels, projector, keys, now, newId, log, metrics: process.metrics }
  return {
    projector,
    keys,
    ring,
    rotation,
    workers: [rotation.start, () => startClosingDays(closing)],
    async upToDate() {
      if (await projector.reached(await eventStore.head(), TIMEOUT_MS)) return
      throw new Refusal('unavailable', { detail: 'the audit log does not have the latest changes yet' })
    },
  }
}
