import { randomUUID } from 'node:crypto'
import { Refusal } from '@gantry/contracts'
import {
  type Bus,
  firstAfter,
  type Message,
  type MissedMessages,
  placeBefore,
  type StoredMessage,
} from '@gantry/messaging'
import { sleep } from '@gantry/pacing'
import type { ReadModels } from '@gantry/stores'
import { streamName } from '../log/event.ts'
import { type EventStore, NO_STREAM } from '../log/event-store.ts'
import { superviseUnderLease } from '../supervision/lease.ts'
import type { Log, Worker } from '../supervision/worker.ts'

/** What a service does about messages of others. */
export interface Reaction {
  /** Names the position, the lease, and the reader on the bus, e.g. catalog-media. */
  consumer: string
  subjects: readonly string[]
  /** Turns a message into commands. The same message again must change nothing. */
  react(message: StoredMessage): Promise<void>
  /**
   * Handles a message of this process before the bus has it, in any order.
   * @returns whether nothing is left for `react`. A failure is left to it too.
   */
  early?(message: Message): Promise<boolean>
  /**
   * Messages with the same key are handled in their order, others concurrently. Left out: all are handled one after the
   * other.
   */
  keyOf?(message: StoredMessage): string
}

export interface ReactorOptions {
  bus: Bus
  eventStore: Pick<EventStore, 'append' | 'readLast'>
  readModels: Pick<ReadModels, 'checkpoints' | 'leases'>
  holder: string
  log: Log
  /** Messages wait until it is true, e.g. until the read models that reactions need have caught up. Default: true. */
  isReady?(): boolean
  /** Runs the work on a message, e.g. in the context of the request that caused it. Default: calls it. */
  within?(message: StoredMessage, work: () => Promise<void>): Promise<void>
  /** Called when retention has removed messages before they were handled. */
  missed?(range: MissedMessages): void
}

/** Maximum number of messages that are handled concurrently, or after one that is not handled yet. */
const WINDOW = 32
/** Interval of saves of the position. A process that takes over handles the messages after the saved position again. */
const SAVE_MS = 100
/** Interval of notes of the position in the log, where it survives a loss of the read models. */
const NOTE_MS = 600_000
const POLL_MS = 20

const nameOf = ({ consumer }: Pick<Reaction, 'consumer'>) => `${consumer}.reactor`

/** The sequence on the bus up to which all messages are handled. */
export async function handledThrough(
  reaction: Pick<Reaction, 'consumer'>,
  { checkpoints }: Pick<ReadModels, 'checkpoints'>,
): Promise<number> {
  return parsed(await checkpoints.get(nameOf(reaction)))?.through ?? 0
}

/**
 * Handles messages of other services, in one process at a time, by lease. It saves the position up to which all messages
 * are handled. After a failure, and in another process, it begins again at the saved position, so that the order by key
 * stays. Where the read models were lost, it begins at a position that is ten minutes older. A refusal, which a retry cannot
 * change, is logged and skipped.
 */
export function startReactor(reaction: Reaction, options: ReactorOptions): Worker {
  const { bus, eventStore, holder, log, isReady = () => true, within = (_, work) => work() } = options
  const { checkpoints, leases } = options.readModels
  const { consumer, subjects } = reaction
  const name = nameOf(reaction)
  const missed = (range: MissedMessages) => {
    log.error(
      { worker: name, ...range },
      'messages were removed before they were handled: follow "Missed messages" in docs/operations.md',
    )
    options.missed?.(range)
  }
  return superviseUnderLease({ leases, name, holder, log }, async (lease, leaseSignal) => {
    while (!isReady() && !leaseSignal.aborted) await sleep(POLL_MS, { signal: leaseSignal })
    const failed = new AbortController()
    const ending = AbortSignal.any([leaseSignal, failed.signal])
    const known = (await checkpoints.get(name)) ?? (await noted(consumer, eventStore))
    const saved = await placeOf(parsed(known), reaction, options)
    let notedAt = performance.now()
    const save = async (position: Position) => {
      await checkpoints.save(name, texted(position), lease)
      if (performance.now() - notedAt < NOTE_MS) return
      notedAt = performance.now()
      await note(position, consumer, eventStore)
    }
    const fail = (error: unknown) => failed.abort(error)
    const handling = new Handling({ reaction, log, within, save, saved, ending, fail })
    const passed = (sequence: number) => handling.passed(sequence)
    const reading = { subjects, reader: consumer, after: saved.through, live: true, signal: ending }
    try {
      for await (const message of bus.read({ ...reading, missed, passed })) {
        await handling.begin(message)
        if (ending.aborted) break
      }
    } finally {
      await handling.ended()
    }
    failed.signal.throwIfAborted()
  })
}

interface Position {
  /** Sequence up to which all messages are handled. */
  through: number
  /** The last message that was handled, at this sequence or before. */
  last?: Pick<StoredMessage, 'sequence' | 'storedAt' | 'id'>
}

const texted = ({ through, last }: Position) =>
  last ? `${through} ${last.sequence} ${last.storedAt} ${last.id}` : `${through}`

function parsed(text: string | undefined): Position | undefined {
  if (text === undefined) return undefined
  const [through, sequence, storedAt = '', ...id] = text.split(' ')
  if (sequence === undefined) return { through: Number(through) }
  return { through: Number(through), last: { sequence: Number(sequence), storedAt, id: id.join(' ') } }
}

/**
 * Where a reaction continues. A bus that has lost messages gets them again, with other sequences: all that were stored since
 * the last handled one are then handled again.
 */
async function placeOf(
  saved: Position | undefined,
  { subjects, consumer: reader }: Reaction,
  { bus, log }: Pick<ReactorOptions, 'bus' | 'log'>,
): Promise<Position> {
  const removed = await bus.removedThrough(subjects)
  // A new consumer has missed nothing.
  if (!saved) return { through: removed }
  const { through, last } = saved
  const isLost = async ({ sequence, id, storedAt }: NonNullable<Position['last']>) => {
    if (sequence <= removed) return false
    const found = await firstAfter(bus, { subjects, reader }, sequence - 1)
    // The same message may have the same sequence again, after other messages.
    return found?.id !== id || found.storedAt !== storedAt
  }
  if (through <= (await bus.head()) && !(last && (await isLost(last)))) return saved
  log.warn({ consumer: reader, ...last }, 'the bus has lost messages, handles later ones again')
  if (!last) return { through: removed }
  return { through: (await placeBefore(bus, { subjects, reader }, last.storedAt)).sequence }
}

const streamOf = (consumer: string) => streamName('reactor', consumer)

async function note(
  position: Position,
  consumer: string,
  eventStore: ReactorOptions['eventStore'],
): Promise<void> {
  const revision = (await eventStore.readLast(streamOf(consumer)))?.revision ?? NO_STREAM
  const id = randomUUID()
  const at = position.last?.storedAt ?? new Date(0).toISOString()
  const metadata = { actor: { id: null, name: consumer }, requestId: id, at }
  const event = { id, type: 'PositionNoted', data: { position: texted(position) }, metadata }
  await eventStore.append(streamOf(consumer), [event], revision)
}

async function noted(
  consumer: string,
  eventStore: ReactorOptions['eventStore'],
): Promise<string | undefined> {
  const position = (await eventStore.readLast(streamOf(consumer)))?.data.position
  return position === undefined ? undefined : String(position)
}

interface HandlingOptions {
  reaction: Reaction
  log: Log
  within: NonNullable<ReactorOptions['within']>
  save(position: Position): Promise<void>
  saved: Position
  /** Aborted when no further message may be handled. */
  ending: AbortSignal
  fail(error: unknown): void
}

/** The messages that are being handled, or wait for one of the same key. */
class Handling {
  readonly #options: HandlingOptions
  /** In the order of the messages. Those that are handled stay until all before them are. */
  readonly #begun: { message: StoredMessage; isHandled: boolean; run: Promise<void> }[] = []
  readonly #latest = new Map<string, Promise<void>>()
  #room = () => {}
  #position: Position
  #saved: Position
  #saving: Promise<void> | undefined

  constructor(options: HandlingOptions) {
    this.#options = options
    this.#position = this.#saved = options.saved
  }

  /** To be called when all messages up to a sequence were begun. */
  passed(sequence: number): void {
    if (this.#begun.length === 0) this.#advance({ ...this.#position, through: sequence })
  }

  /** Begins to handle a message. @returns when there is room for the next one, or no further one may be handled */
  async begin(message: StoredMessage): Promise<void> {
    const { reaction, within, ending, fail } = this.#options
    const key = reaction.keyOf?.(message) ?? ''
    const before = this.#latest.get(key)
    const handle = async () => {
      ending.throwIfAborted()
      await within(message, () => this.#handle(message))
    }
    const run = before ? before.then(handle) : handle()
    const begun = { message, isHandled: false, run }
    this.#begun.push(begun)
    this.#latest.set(key, run)
    run
      .then(() => {
        begun.isHandled = true
        while (this.#begun[0]?.isHandled) {
          const last = this.#begun.shift()?.message
          if (last) this.#advance({ through: last.sequence, last })
        }
      }, fail)
      .finally(() => {
        if (this.#latest.get(key) === run) this.#latest.delete(key)
        this.#room()
      })
    const most = reaction.keyOf ? WINDOW : 1
    while (this.#begun.length >= most && !ending.aborted)
      await new Promise<void>(resolve => {
        this.#room = resolve
      })
  }

  /** Resolves when all begun messages have ended and the position is saved. */
  async ended(): Promise<void> {
    await Promise.allSettled(this.#begun.map(({ run }) => run))
    await this.#saving
  }

  async #handle(message: StoredMessage): Promise<void> {
    const { reaction, log } = this.#options
    try {
      await reaction.react(message)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      const { id, subject } = message
      log.warn({ message: id, subject, code: error.code }, 'a reaction was refused')
    }
  }

  #advance(position: Position) {
    this.#position = position
    this.#saving ??= this.#save().catch(this.#options.fail)
  }

  async #save(): Promise<void> {
    const { save, ending } = this.#options
    for (; this.#saved !== this.#position; await sleep(SAVE_MS, { signal: ending })) {
      this.#saved = this.#position
      await save(this.#saved)
    }
    this.#saving = undefined
  }
}
