import { type Bus, BusUnavailable, type Message, type StoredMessage } from '@gantry/messaging'
import { sleep } from '@gantry/pacing'
import type { Lease, ReadModels, Write } from '@gantry/stores'
import { sendingMessages } from '@gantry/tracing'
import { type Fact, type Position, type RecordedEvent, START } from '../log/event.ts'
import type { EventStore } from '../log/event-store.ts'
import { StreamQuarantined } from '../log/fold.ts'
import { LOG_IDENTITY, logIdentity } from '../log/log-identity.ts'
import { underLease } from '../supervision/lease.ts'
import { held, heldStreams, listHeld, quarantinedStream, released } from '../supervision/quarantine.ts'
import { type Log, OperatorNeeded, supervise, type Worker } from '../supervision/worker.ts'
import type { EarlyMessages } from './early-messages.ts'

/** What a relay publishes. */
export interface Publication {
  streamPrefixes: string[]
  /** The messages of a fact; none for an internal fact. Its data are as stored: see `newest`. */
  publicEvents(event: Fact): Message[]
  /** The subjects of the public events. Only this relay publishes there. */
  subjects: readonly string[]
}

export interface RelayOptions {
  /** Names the checkpoint and the lease, e.g. catalog.relay. */
  name: string
  publication: Publication
  eventStore: EventStore
  readModels: ReadModels
  bus: Bus
  holder: string
  log: Log
  /** Where each message is announced before it is published. */
  early?: EarlyMessages | undefined
}

/** Header of a published message: position of its fact in the log. All messages of a fact have the same. */
export const LOG_POSITION = 'log-position'

const BATCH = 500
/** How long the log may seem to end before the last message while a new leader is being elected, in milliseconds. */
const BEHIND_MS = 3_000
const POLL_MS = 100
/** Time between two notes of the last published message, and between two messages before which the bus is checked. */
const NOTE_MS = 1_000
/** Time between two checks of the bus while there is nothing to publish. */
const CHECK_MS = 2_000
/** Time between two looks at the last own message, which costs the server more than the check of its end. */
const CHECK_OWN_MS = 30_000

/**
 * The only path from the log to the bus. It publishes in log order with the event's id, waits for the acknowledgement,
 * then saves its checkpoint. At each start it continues after the last message that the bus has from it, or earlier, after
 * its checkpoint. So an old or lost checkpoint puts no old message after a newer one, and a bus that has lost messages gets
 * them again, also those that it lost after the last note. The relay stops when another holder publishes. An event that
 * cannot be made public is left out and held in quarantine.
 */
export function startRelay(options: RelayOptions): Worker {
  const { name, eventStore, readModels, bus, holder, log, early } = options
  const { streamPrefixes, subjects } = options.publication
  const { checkpoints, leases } = readModels
  let checked = false
  const lastMessage = async (signal: AbortSignal, lease?: Lease) => {
    const identity = await logIdentity(eventStore)
    await requireModelsOf(identity, readModels, lease)
    const last = await bus.last(subjects)
    await requireInLog(last, { identity, eventStore, signal })
    checked = true
    return { identity, last }
  }

  const worker = supervise(name, log, async signal => {
    // Checked in every process before its service appends: new facts would hide that the log is an older copy.
    await lastMessage(signal)
    await underLease({ leases, name, holder, signal }, async (lease, leaseSignal, confirm) => {
      const { identity, last } = await lastMessage(leaseSignal, lease)
      const note = await readNote(options)
      const hasLost = await hasLostMessages(last, note, options)
      const checkpoint = await checkpoints.get(name)
      if (hasLost && checkpoint) log.warn({ worker: name }, 'the bus has lost messages, publishes them again')
      // Saved before the first message: a relay that dies meanwhile would continue after the checkpoint of the lost ones.
      if (hasLost) await checkpoints.save(name, START, lease)
      const after = hasLost ? START : earlier(checkpoint ?? START, safeAfter(last, note))
      const unpublishable = await unpublishableEvents(options)
      const unpublished = messagesAfter({ identity, last }, options, unpublishable)
      const publishing = publisher(options, lease, { last, after })
      let saved = after
      let reached = after
      let messages: Message[] = []
      let publishingAll: Promise<void> | undefined
      /** Publishes the messages up to `reached`, and those that are read meanwhile. */
      const publishAll = async () => {
        do {
          const position = reached
          const batch = messages
          messages = []
          if (batch.length > 0) confirm()
          await publishing.publish(batch, position)
          await unpublishable.save()
          if (position > saved) await checkpoints.save(name, position, lease)
          saved = position > saved ? position : saved
        } while (reached > saved)
        publishingAll = undefined
      }
      const checks = repeatedly(publishing.check, leaseSignal)
      try {
        for await (const item of eventStore.subscribe({ after, streamPrefixes, signal: checks.signal })) {
          if (item.kind === 'event') {
            for (const message of unpublished(item.event)) {
              early?.announce(message)
              messages.push(message)
            }
            if (messages.length < BATCH) continue
            reached = item.event.position
          } else reached = item.position
          publishingAll ??= publishAll().catch(checks.fail)
          if (messages.length >= BATCH) await publishingAll
        }
      } finally {
        checks.end()
        await publishingAll
        // Fails when the lease is lost: then another relay makes notes.
        await publishing.note().catch(() => {})
      }
      if (!leaseSignal.aborted) checks.signal.throwIfAborted()
    })
  })
  return {
    name,
    get waitsFor() {
      return worker.waitsFor ?? (checked ? undefined : 'its last message on the bus')
    },
    stop: () => worker.stop(),
  }
}

const noteName = (relay: string) => `${relay}.published`

/** What a relay had published when it wrote the note. */
interface Note {
  /** Sequence and position of the last message. */
  sequence: number
  position: Position
  /** The bus had all messages of the log up to this position. */
  through: Position
}

async function readNote({ name, readModels }: RelayOptions): Promise<Note | undefined> {
  const text = await readModels.checkpoints.get(noteName(name))
  if (text === undefined) return undefined
  const [sequence = '', position = START, through = START] = text.split(' ')
  return { sequence: Number(sequence), position, through }
}

/**
 * The position up to which the bus has all messages, provided that it still has the last message of the note. Undefined
 * without a note.
 */
const safeAfter = (last: StoredMessage | undefined, note: Note | undefined): Position | undefined =>
  note && (note.through > positionOf(last) ? note.through : positionOf(last))

const earlier = (one: Position, other: Position | undefined): Position =>
  other === undefined || one < other ? one : other

/**
 * Publishes messages after those of this relay. Notes what it has published: at the first call, also without messages,
 * with the first message ever, and otherwise from time to time, at the latest with the next check.
 * `publish` and `check` throw an Error when the bus has lost messages. The note then tells the next start what is missing.
 */
function publisher(
  { name, publication, bus, readModels }: RelayOptions,
  lease: Lease,
  { last, after }: { last: StoredMessage | undefined; after: Position },
) {
  let sequence = last?.sequence ?? 0
  let position = positionOf(last)
  let through = after
  let publishedAt = Number.NEGATIVE_INFINITY
  let noted: Note | undefined
  let notedAt = Number.NEGATIVE_INFINITY
  let lookedAt = performance.now()
  const note = async () => {
    if (position === noted?.position && through === noted.through) return
    const latest = { sequence, position, through }
    notedAt = performance.now()
    await readModels.checkpoints.save(noteName(name), `${sequence} ${position} ${through}`, lease)
    noted = latest
  }
  const requireEnd = (end: number, published: number) => {
    if (end < published)
      throw new Error(`the bus ends before message ${published}, which this relay has published`)
  }
  const check = async () => {
    // Read before the head: another message may be published while the bus answers.
    const published = sequence
    const head = await bus.head()
    await note()
    requireEnd(head, published)
    if (performance.now() - lookedAt < CHECK_OWN_MS) return
    lookedAt = performance.now()
    // Other relays may have published as many messages since as the bus has lost. One that was removed is not lost.
    const { subjects } = publication
    const own = (await bus.last(subjects))?.sequence ?? (await bus.removedThrough(subjects))
    requireEnd(own, published)
  }
  const publish = async (messages: readonly Message[], reached: Position) => {
    const now = performance.now()
    if (messages.length > 0) {
      if (now - publishedAt > NOTE_MS) await check()
      const after = sequence
      const publish = (inSpans: readonly Message[]) => bus.publish(inSpans, { after })
      sequence = Math.max(sequence, await sendingMessages(bus.system, messages, publish))
      position = messages.at(-1)?.headers?.[LOG_POSITION] ?? START
      publishedAt = now
    }
    if (reached > through) through = reached
    // A note that nothing was published would hide the loss of the first message.
    const isFirst = noted?.position === START && position !== START
    if (isFirst || now - notedAt >= NOTE_MS) await note()
  }
  return { publish, check, note }
}

/**
 * A check that finds the bus unavailable is repeated.
 * @returns a signal that is aborted with `signal`, when a check fails, and by `fail`; a function that ends the checks
 */
function repeatedly(check: () => Promise<void>, signal: AbortSignal) {
  const failed = new AbortController()
  const fail = (error: unknown) => failed.abort(error)
  const checkOnce = () =>
    check().catch(error => {
      if (!(error instanceof BusUnavailable)) fail(error)
    })
  const checking = setInterval(checkOnce, CHECK_MS)
  return { signal: AbortSignal.any([signal, failed.signal]), fail, end: () => clearInterval(checking) }
}

/** Whether the bus lacks published messages, apart from messages that it has removed because of their age. */
async function hasLostMessages(
  last: StoredMessage | undefined,
  note: Note | undefined,
  { publication, bus }: RelayOptions,
): Promise<boolean> {
  const removed = await bus.removedThrough(publication.subjects)
  // Nothing was ever published by these read models, or they were lost.
  if (note === undefined) return last === undefined && removed === 0
  return positionOf(last) < note.position && removed < note.sequence
}

const positionOf = (message: StoredMessage | undefined): Position => message?.headers?.[LOG_POSITION] ?? START

/** The events that cannot be made public. They would fail at every start and block all later events. */
interface UnpublishableEvents {
  hold(event: RecordedEvent, error: unknown): void
  /**
   * Ends the hold on an event. Call it for each published event: a release that could not read the event may have held
   * it.
   */
  release(event: RecordedEvent): void
  save(): Promise<void>
}

async function unpublishableEvents({ name, readModels, log }: RelayOptions): Promise<UnpublishableEvents> {
  const collection = heldStreams(name)
  const events = new Map<string, string>()
  for await (const { id, event } of listHeld(collection, readModels)) events.set(id, event)
  let writes: Write[] = []
  return {
    hold(event, error) {
      const { stream, revision, type, position } = event
      const details = { worker: name, stream, revision, type, position, err: error }
      log.error(details, 'left out an event that cannot be made public')
      events.set(stream, event.id)
      writes.push(held(collection, quarantinedStream(new StreamQuarantined(event, error))))
    },
    release({ stream, id }) {
      if (events.get(stream) !== id) return
      events.delete(stream)
      writes.push(released(collection, stream))
    },
    async save() {
      if (writes.length > 0) await readModels.write(writes)
      writes = []
    },
  }
}

/**
 * The messages of an event that come after the last published message. If that message has no position, all of them.
 */
function messagesAfter(
  { identity, last }: { identity: string; last: StoredMessage | undefined },
  { publication }: RelayOptions,
  unpublishable: UnpublishableEvents,
): (event: RecordedEvent) => Message[] {
  const reached = positionOf(last)
  const readable = (event: RecordedEvent) => {
    try {
      if (event.malformed !== undefined) throw new Error(event.malformed)
      const messages = publication.publicEvents(event)
      unpublishable.release(event)
      return messages
    } catch (error) {
      unpublishable.hold(event, error)
      return []
    }
  }
  return event => {
    const { position } = event
    if (position < reached) return []
    const messages = readable(event).map(message => ({
      ...message,
      headers: { ...message.headers, [LOG_POSITION]: position, [LOG_IDENTITY]: identity },
    }))
    // A process may have died between two messages of a fact.
    return position > reached ? messages : messages.slice(messages.findIndex(({ id }) => id === last?.id) + 1)
  }
}

const RESTORING = 'follow "Restoring the log" in docs/operations.md'
/** Name of the checkpoint with the identity of the log that the read models are made from. */
export const LOG_OF_MODELS = 'log'

/** Notes the log under a lease, which a reset keeps. @throws OperatorNeeded when the read models are of another log */
async function requireModelsOf(identity: string, { checkpoints }: ReadModels, lease: Lease | undefined) {
  const known = await checkpoints.get(LOG_OF_MODELS)
  if (known === undefined && lease) await checkpoints.save(LOG_OF_MODELS, identity, lease)
  if (known !== undefined && known !== identity)
    throw new OperatorNeeded(`the read models are of a log that was replaced: ${RESTORING}`)
}

/** @throws OperatorNeeded when the last message is of another log, or after the end of the log, which is an older copy */
async function requireInLog(
  last: StoredMessage | undefined,
  { identity, eventStore, signal }: { identity: string; eventStore: EventStore; signal: AbortSignal },
) {
  const message = `message ${last?.sequence} of the bus (${last?.subject})`
  if ((last?.headers?.[LOG_IDENTITY] ?? identity) !== identity)
    throw new OperatorNeeded(`${message} is of a log that was replaced: ${RESTORING}`)
  const position = positionOf(last)
  const deadline = performance.now() + BEHIND_MS
  while ((await eventStore.head()) < position) {
    if (signal.aborted) return
    if (performance.now() > deadline)
      throw new OperatorNeeded(
        `the log ends before ${message}, so it was restored from a backup: ${RESTORING}`,
      )
    await sleep(POLL_MS, { signal })
  }
}
