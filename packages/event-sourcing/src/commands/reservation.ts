import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { type ProblemCode, Refusal } from '@gantry/contracts'
import { type NewEvent, nameUuids, type RecordedEvent, streamName } from '../log/event.ts'
import { type EventStore, NO_STREAM, WrongExpectedRevision } from '../log/event-store.ts'
import { StreamQuarantined, type StreamState } from '../log/fold.ts'
import type { CommandMetadata } from './decider.ts'

/** The holder that reserves a name, and the revision of its stream after which it appends the event that takes the name. */
interface Reservation {
  holder: string
  holderRevision: number
  claimedAt: string
  revision: number
}

export interface ReservationOptions {
  eventStore: EventStore
  /**
   * Category of the streams that hold names, e.g. `api`. Reservation streams are named `{category}name-{hash}`; none
   * contains a name, because names of persons can be erased.
   */
  category: string
  /**
   * The name of a holder according to the log, undefined when it has none (absent, deleted), and the revision of its
   * stream. The read may be stale. Streams of holders are never removed. `unknown` comes from the holder's state: one
   * of these events may have given the holder another name.
   */
  holding(holder: string): Promise<{ name: string | undefined } & Omit<StreamState<unknown>, 'state'>>
  /** Code of the refusal when the name is taken. */
  takenCode: ProblemCode
  /** A reservation that its holder has not confirmed after this long may be taken over, in milliseconds. */
  graceMs?: number
  now(): Date
}

export interface Reservations {
  /**
   * Reserves the name for a holder whose next append expects `holderRevision`. That append takes the name.
   * A reservation needs no release: it is void once its holder's stream has later events and not the name.
   * @throws Refusal with `takenCode` when another holds the name, or may hold it by an event that is unknown here
   * @throws StreamQuarantined when the last event of the name is no reservation
   */
  reserve(name: string, holder: string, holderRevision: number, metadata: CommandMetadata): Promise<void>
}

/** Interval at which a pending reservation is read, in milliseconds. */
const POLL_MS = 50
const eventUuid = nameUuids('0f5e9a51-6f43-4a7e-8f7f-5a9c4d0b8e22')

/**
 * Unique names without locks or transactions over streams. Each name has a stream of reservations (`NameClaimed`), named by
 * its hash, so that two reservations conflict in one append. The holder's stream tells whether a reservation is still valid.
 * An abandoned reservation is fenced before it is taken over: an event in the holder's stream makes the announced append
 * fail, so that a slow writer cannot take the name as well.
 */
export function reservations(options: ReservationOptions): Reservations {
  const { eventStore, category, holding, takenCode, now, graceMs = 2_000 } = options

  const stream = (name: string) => `${category}name-${createHash('sha256').update(name).digest('hex')}`

  const read = async (name: string): Promise<Reservation | undefined> => {
    const last = await eventStore.readLast(stream(name))
    return last && reservationIn(last)
  }

  /** Makes the append that the reservation announced fail. @returns false when the holder's stream has new events */
  const fence = async (reservation: Reservation, metadata: CommandMetadata): Promise<boolean> => {
    const event = newEvent(
      eventUuid(`fence/${reservation.holder}/${reservation.holderRevision}`),
      'NameClaimFenced',
      {},
      metadata,
    )
    try {
      await eventStore.append(streamName(category, reservation.holder), [event], reservation.holderRevision)
      return true
    } catch (error) {
      if (error instanceof WrongExpectedRevision) return false
      throw error
    }
  }

  const reserve: Reservations['reserve'] = async (name, holder, holderRevision, metadata) => {
    let watched = { revision: NO_STREAM, since: 0 }
    // Most names are new. If this one is not, the append of the reservation conflicts.
    for (let current: Reservation | undefined; ; current = await read(name)) {
      if (current && (current.holder !== holder || current.holderRevision < holderRevision)) {
        if (current.holder !== holder) {
          const holderState = await holding(current.holder)
          const mayHold = holderState.unknown !== undefined && holderState.revision > current.holderRevision
          if (holderState.name === name || mayHold) throw new Refusal(takenCode, { name })
          // The holder's stream had the reservation's revision before the reservation was made. A read that ends before
          // that revision is stale, e.g. from a deposed leader, and does not tell whether the holder has taken the name.
          if (holderState.revision <= current.holderRevision) {
            // The name is reserved and not yet taken: its writer is working, or died. The age of the reservation is the
            // greater of its timestamp's age and the time it was watched, so that a slow clock delays no caller. Too early
            // is safe.
            if (watched.revision !== current.revision)
              watched = { revision: current.revision, since: performance.now() }
            const age = now().getTime() - Date.parse(current.claimedAt)
            const left = graceMs - Math.max(age, performance.now() - watched.since)
            if (left > 0) {
              await setTimeout(Math.min(POLL_MS, left))
              continue
            }
            if (!(await fence(current, metadata))) {
              // Reads stay stale until the deposed leader notices the new one.
              if (holderState.revision < current.holderRevision) await setTimeout(POLL_MS)
              continue
            }
          }
        }
        // A reservation of the same holder for a later revision stays: the append that this one announces must fail.
      } else if (current) return
      const expected = current?.revision ?? NO_STREAM
      const event = newEvent(
        eventUuid(`claim/${name}/${holder}/${holderRevision}/${expected}`),
        'NameClaimed',
        { holder, holderRevision, claimedAt: now().toISOString() },
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

  return { reserve }
}

function reservationIn(event: RecordedEvent): Reservation {
  if (event.malformed !== undefined || event.type !== 'NameClaimed')
    throw new StreamQuarantined(event, event.malformed ?? 'it is no claim of a name')
  const { holder, holderRevision, claimedAt } = event.data as unknown as Reservation
  return { holder, holderRevision, claimedAt, revision: event.revision }
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
