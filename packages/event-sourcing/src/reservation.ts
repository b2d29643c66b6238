import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { v5 as uuidv5 } from 'uuid'
import { type CommandMetadata, Refusal } from './decider.ts'
import type { NewEvent } from './event.ts'
import { type EventStore, NO_STREAM, WrongExpectedRevision } from './event-store.ts'
import type { Snapshot } from './fold.ts'

/** Who claims a name, and the revision of the holder's stream at which it is about to take it. */
interface Claim {
  holder: string
  holderRevision: number
  claimedAt: string
  revision: number
}

export interface ReservationOptions {
  eventStore: EventStore
  /** What the names are unique among, e.g. `api`; reservation streams are named `{scope}name-{hash}`. */
  scope: string
  /** Category of the streams that hold names. */
  holderCategory: string
  /**
   * The name a holder has by the log, undefined when it has none (absent, deleted), and its stream's revision. The read
   * may be stale; the streams of holders are never removed. `unknown` is that of the holder's snapshot: one of these
   * events may have given the holder another name.
   */
  holding(holder: string): Promise<{ name: string | undefined } & Omit<Snapshot<unknown>, 'state'>>
  /** Code of the refusal when the name is taken. */
  takenCode: string
  /** A claim that its holder has not confirmed after this long may be taken over, in milliseconds. */
  graceMs?: number
  now(): Date
}

export interface Reservation {
  /**
   * Claims the name for a holder whose next append expects `holderRevision`: that append is what takes the name.
   * No release is needed: a claim is void as soon as its holder's stream went on past `holderRevision` without the name.
   * @throws Refusal with `takenCode` when another holds the name, or may hold it by an event that is unknown here
   */
  claim(name: string, holder: string, holderRevision: number, metadata: CommandMetadata): Promise<void>
}

/** Between two looks at a claim that is pending. */
const LOOK_MS = 50
const NAMESPACE = '0f5e9a51-6f43-4a7e-8f7f-5a9c4d0b8e22'

/**
 * Unique names without locks or transactions over streams. A claim lives in a stream of its own, on the hash of the
 * name, so that two claims meet in one append. Whether it still counts is read from the holder's stream. An abandoned
 * claim is fenced before it is taken over: an event in the holder's stream makes the append that it announced fail,
 * so that a writer that was merely slow cannot take the name as well.
 */
export function reservation(options: ReservationOptions): Reservation {
  const { eventStore, scope, holderCategory, holding, takenCode, now } = options
  const graceMs = options.graceMs ?? 2_000

  const stream = (name: string) => `${scope}name-${createHash('sha256').update(name).digest('hex')}`

  const read = async (name: string): Promise<Claim | undefined> => {
    const last = await eventStore.readLast(stream(name))
    if (!last) return undefined
    const { holder, holderRevision, claimedAt } = last.data as unknown as Claim
    return { holder, holderRevision, claimedAt, revision: last.revision }
  }

  /** Makes the append that the claim announced impossible. @returns false when the holder moved meanwhile */
  const fence = async (claim: Claim, metadata: CommandMetadata): Promise<boolean> => {
    const event = newEvent(
      uuidv5(`fence/${claim.holder}/${claim.holderRevision}`, NAMESPACE),
      'NameClaimFenced',
      {},
      metadata,
    )
    try {
      await eventStore.append(`${holderCategory}-${claim.holder}`, [event], claim.holderRevision)
      return true
    } catch (error) {
      if (error instanceof WrongExpectedRevision) return false
      throw error
    }
  }

  const claim: Reservation['claim'] = async (name, holder, holderRevision, metadata) => {
    let watched = { revision: NO_STREAM, since: 0 }
    // Most names are new; whether this one is shows when it is claimed.
    for (let current: Claim | undefined; ; current = await read(name)) {
      if (current && (current.holder !== holder || current.holderRevision < holderRevision)) {
        if (current.holder !== holder) {
          const held = await holding(current.holder)
          const mayHold = held.unknown !== undefined && held.revision > current.holderRevision
          if (held.name === name || mayHold) throw new Refusal(takenCode, { name })
          // The holder's stream had the claim's revision before the claim was made: a read that ends before it is
          // stale, e.g. from a deposed leader, and does not tell whether the holder has taken the name since.
          if (held.revision <= current.holderRevision) {
            // Announced and not yet taken: its writer is under way, or died. The claim is as old as it says or as long
            // as it was watched, so that a clock that is behind keeps nobody waiting; coming too early is safe.
            if (watched.revision !== current.revision)
              watched = { revision: current.revision, since: performance.now() }
            const age = now().getTime() - Date.parse(current.claimedAt)
            const left = graceMs - Math.max(age, performance.now() - watched.since)
            if (left > 0) {
              await setTimeout(Math.min(LOOK_MS, left))
              continue
            }
            if (!(await fence(current, metadata))) {
              // Stale reads last until the deposed leader knows that it is deposed.
              if (held.revision < current.holderRevision) await setTimeout(LOOK_MS)
              continue
            }
          }
        }
        // A claim of the same holder from a later revision stays: the append that this one announces must fail.
      } else if (current) return
      const expected = current?.revision ?? NO_STREAM
      const event = newEvent(
        uuidv5(`claim/${name}/${holder}/${holderRevision}/${expected}`, NAMESPACE),
        'NameClaimed',
        { name, holder, holderRevision, claimedAt: now().toISOString() },
        metadata,
      )
      try {
        await eventStore.append(stream(name), [event], expected)
        return
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error
      }
    }
  }

  return { claim }
}

const newEvent = (
  id: string,
  type: string,
  data: object,
  { actor, requestId, now }: CommandMetadata,
): NewEvent => ({
  id,
  type,
  data,
  metadata: { actor, requestId, at: now },
})
