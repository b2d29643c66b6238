import { setTimeout } from 'node:timers/promises'
import { type CommandMetadata, type Log, supervise, type Worker } from '@gantry/event-sourcing'
import { z } from 'zod'
import type { Rotated, SigningKeys } from './keys.ts'

/** How often it is looked whether a rotation is due. */
const LOOK_MS = 1_000

export interface KeyRotation {
  /** Whether there is a key to sign with. */
  readonly ready: boolean
  /** Makes the first key, then rotates on schedule until it is stopped. */
  start(): Worker
  /** On somebody's word, who is named in the log; the same request again changes nothing. */
  rotate(request: RotationRequest): Promise<Rotated>
}

/** What the operator asks over the bus. */
export const RotationRequest = z.object({
  id: z.uuid(),
  by: z.string().min(1).max(255),
  /** Revokes every earlier key, and all logins with it. */
  compromised: z.boolean(),
})
export type RotationRequest = z.infer<typeof RotationRequest>

export interface KeyRotationOptions {
  keys: SigningKeys
  /** Between rotations on schedule, in milliseconds; 0 for never. */
  periodMs: number
  metadata(actor?: string): CommandMetadata
  /** Tells others of it: what they keep they look up anew. */
  rotated(key: Rotated): Promise<void>
  log: Log
}

/**
 * Signing keys follow each other. A rotation is one append that says from when on the new key signs, so that there is
 * no step at which it could be left half done; every replica looks at the clock, and the log takes it from one of them.
 */
export function keyRotation({ keys, periodMs, metadata, rotated, log }: KeyRotationOptions): KeyRotation {
  let ready = false
  const told = async (key: Rotated) => {
    log.info({ ...key }, 'the signing key is rotated')
    await rotated(key)
    return key
  }

  return {
    get ready() {
      return ready
    },
    start: () =>
      supervise('identity.signing-keys', log, async signal => {
        await keys.ensure()
        ready = true
        while (!signal.aborted) {
          const due = periodMs > 0 && (await keys.rotateWhenDue(metadata('key rotation'), periodMs))
          if (due) await told(due)
          await setTimeout(LOOK_MS, undefined, { signal }).catch(() => {})
        }
      }),
    async rotate({ id, by, compromised }) {
      const command = { ...metadata(by), commandId: id, requestId: id, repeated: true }
      return told(await (compromised ? keys.replace(command) : keys.rotate(command)))
    },
  }
}
