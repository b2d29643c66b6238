import {
  type AuditCheck,
  type AuditHead,
  type AuditKeys,
  auditCheck,
  auditCollections,
  auditHead,
  auditProjection,
  startClosingDays,
} from '@gantry/audit'
import { Refusal } from '@gantry/contracts'
import { type CommandMetadata, Projector, type Worker } from '@gantry/event-sourcing'
import { foreignEvents, type Instrumented, sealer } from '@gantry/service-runtime'
import { type SigningKeys, signingKeys } from '../signingkey/keys.ts'
import { type KeyRotation, keyRotation } from '../signingkey/rotation.ts'
import { auditKeys } from './proofs/keys.ts'

/** Maximum time that a list of the audit log waits for the projector, in milliseconds. */
const TIMEOUT_MS = 3_000

export interface Auditor {
  projector: Projector
  keys: AuditKeys
  check: AuditCheck
  head: AuditHead
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
  const { eventStore, readModels, now, newId, encryptionKeys, process } = dependencies
  const { log, metrics } = process
  const head = auditHead(readModels.checkpoints, sealer(encryptionKeys, 'audit head'))
  const projector = new Projector({
    ...dependencies,
    ...process,
    name: 'identity.audit',
    ordered: { ...auditProjection(foreignEvents(process)), observe: head.observe },
    collections: auditCollections,
    background: true,
  })
  const ring = signingKeys('audit', dependencies, metadata)
  const rotation = keyRotation({
    name: 'identity.audit-keys',
    keys: ring,
    periodMs: 0,
    metadata,
    rotated: async () => {},
    log,
  })
  const keys = auditKeys(ring)
  const check = auditCheck({ eventStore, readModels, head, keys, now })
  const closing = {
    eventStore,
    readModels,
    projector,
    signing: { keys, check, head },
    now,
    newId,
    log,
    metrics,
  }
  return {
    projector,
    keys,
    check,
    head,
    ring,
    rotation,
    workers: [rotation.start, () => startClosingDays(closing)],
    async upToDate() {
      if (await projector.reached(await eventStore.head(), TIMEOUT_MS)) return
      throw new Refusal('unavailable', { detail: 'the audit log does not have the latest changes yet' })
    },
  }
}
