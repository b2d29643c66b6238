import { type EventStore, type RecordedEvent, START } from '@gantry/event-sourcing'
import type { ReadModels } from '@gantry/stores'
import { LOG_START, type LogPoint } from './chain.ts'
import {
  afterEvent,
  blockOf,
  eventBlocks,
  eventHash,
  hashesIn,
  isCovered,
  placeIn,
} from './covered-events.ts'
import { DAY_ROOT_STREAM, rootIn, type SignedRoot } from './day-root.ts'
import { type AuditKey, refutes } from './statements.ts'

/** A place in the log that is proven by a signature or a seal. */
export interface ProvenPlace {
  position: string
  /** The hash of the log after the event at the position. */
  hash: string
  /** The hash of the event itself, where it is known. */
  eventHash?: string
  /** What proves the place, e.g. the root of 2026-11-22. */
  by: string
}

export interface LogVerificationOptions {
  eventStore: Pick<EventStore, 'readAll' | 'readStream'>
  /** Its hashes prove nothing; they tell which event differs. */
  readModels: Pick<ReadModels, 'collection'>
  keys: readonly AuditKey[]
  /** Lists of further proven places, each in the order of the log. */
  proven: readonly AsyncIterator<ProvenPlace>[]
  progress?(event: RecordedEvent): void
}

export interface LogVerification {
  /** The place up to which the log was read. */
  end: LogPoint
  /** The last proven place; undefined when nothing proves the log. */
  proven?: { by: string; at: LogPoint }
  /** The first difference from what is proven; undefined when there is none. */
  problem?: string
  /** The first event whose hash in the read model is wrong: the log is proven at its place. */
  warning?: string
}

/**
 * Reads the log and compares it with the signed roots in it and with other proven places. The hashes of the read model tell
 * which event is different; without them, it is only known between which two proven places the event is.
 */
export async function verifyLog(options: LogVerificationOptions): Promise<LogVerification> {
  const verifier = new LogVerifier(options)
  const problem = await verifier.problem()
  const { end, proven, warning } = verifier
  return { end, ...(proven && { proven }), ...(problem && { problem }), ...(warning && { warning }) }
}

const described = ({ position, stream, revision, type }: RecordedEvent) =>
  `the event at position ${position} (${type}, revision ${revision} of ${stream})`

class LogVerifier {
  end = LOG_START
  proven: { by: string; at: LogPoint } | undefined
  warning: string | undefined
  readonly #options: LogVerificationOptions
  readonly #ahead: { places: AsyncIterator<ProvenPlace>; next: ProvenPlace | undefined }[] = []
  /** The first event after the last proven place whose hash in the read model differs. */
  #suspect: string | undefined
  #block: { id: string; hashes: readonly string[] } | undefined

  constructor(options: LogVerificationOptions) {
    this.#options = options
  }

  async problem(): Promise<string | undefined> {
    const { eventStore, keys, proven, progress } = this.#options
    const roots = (await eventStore.readStream(DAY_ROOT_STREAM)).map(rootIn)
    for (const { root, signature } of roots) {
      const problem = refutes({ root }, signature, keys)
      if (problem) return `the root of ${root.day} is not proven: ${problem}`
    }
    for (const places of [placesOf(roots), ...proven])
      this.#ahead.push({ places, next: (await places.next()).value })
    for await (const event of eventStore.readAll({ after: START })) {
      progress?.(event)
      const problem =
        this.#missing(event.position) ?? (isCovered(event) ? await this.#compare(event) : undefined)
      if (problem) return problem
    }
    return this.#missing()
  }

  /**
   * The problem if the log has no event at a proven place.
   * @param before checks only places before this position; all when left out
   */
  #missing(before?: string): string | undefined {
    const missing = this.#ahead.find(
      ({ next }) => next && (before === undefined || next.position < before),
    )?.next
    return missing && this.#differs(`${missing.by}, which proves an event at position ${missing.position}`)
  }

  async #compare(event: RecordedEvent): Promise<string | undefined> {
    const own = eventHash(event)
    this.end = afterEvent(this.end, event.position, own)
    if (!this.#suspect && (await this.#isOther(own))) this.#suspect = described(event)
    for (const ahead of this.#ahead)
      for (; ahead.next?.position === event.position; ahead.next = (await ahead.places.next()).value) {
        const { by, hash, eventHash } = ahead.next
        if (eventHash !== undefined && eventHash !== own) return `${described(event)} differs from ${by}`
        if (hash !== this.end.hash) return this.#differs(by)
        this.proven = { by, at: this.end }
        if (this.#suspect) this.warning ??= `the read model has another hash of ${this.#suspect}`
        this.#suspect = undefined
      }
    return undefined
  }

  /** Whether the read model has another hash for the last event. */
  async #isOther(own: string): Promise<boolean> {
    const { events } = this.end
    const id = blockOf(events)
    if (this.#block?.id !== id) {
      const block = await this.#options.readModels.collection(eventBlocks).get(id)
      this.#block = { id, hashes: block ? hashesIn(block.doc) : [] }
    }
    const expected = this.#block.hashes[placeIn(events)]
    return expected !== undefined && expected !== own
  }

  #differs(by: string): string {
    const from = this.proven?.at.position ?? 'the beginning'
    return this.#suspect
      ? `${this.#suspect} differs from the hash of the read model, and the log from ${by}`
      : `an event after ${from} and up to position ${this.end.position} differs from ${by}`
  }
}

async function* placesOf(roots: readonly SignedRoot[]): AsyncGenerator<ProvenPlace, undefined> {
  for (const { root } of roots) if (root.log.events > 0) yield { ...root.log, by: `the root of ${root.day}` }
  return undefined
}
