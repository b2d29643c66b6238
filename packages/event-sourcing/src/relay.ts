import { type Bus, type Message, type StoredMessage, sleep } from '@gantry/messaging'
import type { ReadModels } from '@gantry/read-models'
import { type Fact, type Position, type RecordedEvent, START } from './event.ts'
import type { EventStore } from './event-store.ts'
import { underLease } from './lease.ts'
import { type Log, OperatorNeeded, supervise, type Worker } from './worker.ts'

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
}

/** Header of a published message: position of its fact in the log. All messages of a fact have the same. */
export const LOG_POSITION = 'log-position'

const BATCH = 500
/** How long the log may seem to end before the last message while a new leader is being elected, in milliseconds. */
const BEHIND_MS = 3_000
const POLL_MS = 100

/**
 * The only path from the log to the bus. It publishes in log order with the event's id, waits for the acknowledgement,
 * then saves its checkpoint. At each start it continues after the last message that the bus has from it, so that an old
 * or lost checkpoint puts no old message after a newer one. The relay stops when another holder publishes.
 */
export function startRelay(options: RelayOptions): Worker {
  const { name, eventStore, readModels, bus, holder, log } = options
  const { streamPrefixes, subjects } = options.publication
  const { checkpoints, leases } = readModels
  let checked = false
  const lastMessage = async (signal: AbortSignal) => {
    const last = await bus.last(subjects)
    await requireInLog(last, eventStore, signal)
    checked = true
    return last
  }

  const worker = supervise(name, log, async signal => {
    // Checked in every process before its service appends: new facts would hide that the log is an older copy.
    await lastMessage(signal)
    await underLease({ leases, name, holder, signal }, async (lease, leaseSignal, confirm) => {
      const after = (await checkpoints.get(name)) ?? START
      const last = await lastMessage(leaseSignal)
      const unpublished = messagesAfter(last, options)
      let sequence = last?.sequence ?? 0
      let saved = after
      let messages: Message[] = []
      const flush = async (position: Position) => {
        if (messages.length > 0) {
          confirm()
          sequence = Math.max(sequence, await bus.publish(messages, { after: sequence }))
        }
        messages = []
        if (position > saved) await checkpoints.save(name, position, lease)
        saved = position > saved ? position : saved
      }
      for await (const item of eventStore.subscribe({ after, streamPrefixes, signal: leaseSignal })) {
        if (item.kind === 'event') {
          messages.push(...unpublished(item.event))
          if (messages.length >= BATCH) await flush(item.event.position)
        } else await flush(item.position)
      }
    })
  })
  return {
    get waitsFor() {
      return worker.waitsFor ?? (checked ? undefined : 'its last message on the bus')
    },
    stop: () => worker.stop(),
  }
}

const positionOf = (message: StoredMessage | undefined): Position => message?.headers?.[LOG_POSITION] ?? START

/** The messages of an event that come after the last published one. A last message without a position excludes none. */
function messagesAfter(
  last: StoredMessage | undefined,
  { name, publication, log }: RelayOptions,
): (event: RecordedEvent) => Message[] {
  const reached = positionOf(last)
  /** Skips an event whose mapping to public events throws: it would fail at every start and block all later events. */
  const readable = (event: RecordedEvent) => {
    try {
      return publication.publicEvents(event)
    } catch (error) {
      const { stream, revision, type, position } = event
      log.error(
        { worker: name, stream, revision, type, position, err: error },
        'left out an event that cannot be made public',
      )
      return []
    }
  }
  return event => {
    const { position } = event
    if (position < reached) return []
    const messages = readable(event).map(message => ({
      ...message,
      headers: { ...message.headers, [LOG_POSITION]: position },
    }))
    // A process may have died between two messages of a fact.
    return position > reached ? messages : messages.slice(messages.findIndex(({ id }) => id === last?.id) + 1)
  }
}

/** @throws OperatorNeeded when the last message has a position after the end of the log, which is an older copy */
async function requireInLog(last: StoredMessage | undefined, eventStore: EventStore, signal: AbortSignal) {
  const position = positionOf(last)
  const deadline = performance.now() + BEHIND_MS
  while ((await eventStore.head()) < position) {
    if (signal.aborted) return
    if (performance.now() > deadline)
      throw new OperatorNeeded(
        `the log ends before message ${last?.sequence} of the bus (${last?.subject}), so it was restored from a ` +
          'backup: follow "Restoring the log" in docs/operations.md',
      )
    await sleep(POLL_MS, { signal })
  }
}
