import type { Rotation } from '@gantry/contracts'
import { type CommandMetadata, type Log, supervise, type Worker } from '@gantry/event-sourcing'
import { sleep } from '@gantry/pacing'
import type { Rotated, SigningKeys } from './keys.ts'

/** Interval between checks whether a rotation is due, in milliseconds. */
const POLL_MS = 1_000

export interface KeyRotation {
  /** Creates the first key if there is none, then rotates on schedule until it is stopped. Waits for the first key. */
  start(): Worker
  /** Rotates at the request of an operator, who is recorded as the actor. Repeating a request changes nothing. */
  rotate(rotation: Rotation): Promise<Rotated>
}

export interface KeyRotationOptions {
  /** Names the worker, e.g. identity.signing-keys. */
  name: string
  keys: SigningKeys
  /** Age at which the newest key is rotated, in milliseconds; 0 for never. */
  periodMs: number
  metadata(actor?: string): CommandMetadata
  /** Notifies other processes, which then discard what they have cached. */
  rotated(key: Rotated): Promise<void>
  log: Log
}

/**
 * Rotates the signing keys. A rotation is one append, which also has the time from which the new key signs, so that a
 * rotation cannot stop halfway. Every replica checks whether a rotation is due, and only one of their appends succeeds.
 */
export function keyRotation({
  name,
  keys,
  periodMs,
  metadata,
  rotated,
  log,
}: KeyRotationOptions): KeyRotation {
  const announce = async (key: Rotated) => {
    log.info({ worker: name, ...key }, 'the signing key was rotated')
    await rotated(key)
    return key
  }

  return {
    start() {
      let ready = false
      const worker = supervise(name, log, async signal => {
        await keys.ensure()
        ready = true
        while (!signal.aborted) {
          const due = periodMs > 0 && (await keys.rotateWhenDue(metadata('key rotation'), periodMs))
          if (due) await announce(due)
          await sleep(POLL_MS, { signal })
        }
      })
      return {
        name,
        get waitsFor() {
          return worker.waitsFor ?? (ready ? undefined : `the keys of ${name}`)
        },
        stop: () => worker.stop(),
      }
    },
    async rotate({ id, by, compromised }) {
      const command = { ...metadata(by), commandId: id, requestId: id, repeated: true }
      return announce(await (compromised ? keys.replace(command) : keys.rotate(command)))
    },
  }
}
