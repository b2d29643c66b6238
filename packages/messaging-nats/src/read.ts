import { BusUnavailable, type ReadOptions, type StoredMessage, subjectMatches } from '@gantry/messaging'
import { AckPolicy, type ConsumerInfo, DeliverPolicy, type Msg, nanos, type StreamState } from 'nats'
import type { Connection, Session } from './connection.ts'
import { isJetStreamError, toBusError } from './errors.ts'
import { filtersFor } from './filter.ts'
import { openPull } from './pull.ts'
import { deliveryInfoOf, toStored } from './stored-message.ts'

/** Maximum number of messages that wait here for a slow reader, of up to `max_payload` bytes each. */
const BATCH = 64
/**
 * The server deletes the consumer of a reader that requests nothing for this long. The reader then continues with a new one.
 */
const FORGOTTEN_MS = 300_000
const CONSUMER_NOT_FOUND = 10014
/** Pause between two checks of what a reader has passed, or a tenth of the retention if that is shorter. */
const PASSED_MS = 600_000
const MIN_PASSED_MS = 200

/** Reads the stream with a consumer for each read. Nothing is acknowledged or stored. */
export function reader(
  connection: Connection,
  closing: AbortSignal,
): (options: ReadOptions) => AsyncGenerator<StoredMessage> {
  return async function* read(options) {
    const ending = AbortSignal.any([options.signal, closing])
    let position = options.after
    while (!ending.aborted) {
      const session = await connection.session()
      try {
        for await (const message of messagesAfter(session, { ...options, after: position, signal: ending })) {
          position = message.sequence
          yield message
        }
        return
      } catch (error) {
        // The server has deleted the consumer of a slow reader. A consumer with a name may belong to another process now.
        const continues = error instanceof Gone && options.reader === undefined
        if (!continues || session.lost.aborted) throw toBusError(session, error)
      }
    }
  }
}

/** The consumer no longer exists or has skipped a message. */
class Gone extends BusUnavailable {}

/** Number of messages that the last reader of a name has not received. */
export async function backlogOf(connection: Connection, name: string): Promise<number> {
  const session = await connection.session()
  try {
    return (await session.jsm.consumers.info(session.stream, name)).num_pending
  } catch (error) {
    if (!isJetStreamError(error, CONSUMER_NOT_FOUND)) throw toBusError(session, error)
    return 0
  }
}

async function addConsumer(session: Session, { subjects, after, reader }: ReadOptions) {
  const { jsm, stream, stored, severalFilters } = session
  const filters = filtersFor(subjects, { stored, several: severalFilters })
  if (reader !== undefined)
    await jsm.consumers.delete(stream, reader).catch(error => {
      if (!isJetStreamError(error, CONSUMER_NOT_FOUND)) throw error
    })
  return jsm.consumers.add(stream, {
    ...(reader !== undefined && { name: reader }),
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: after + 1,
    ack_policy: AckPolicy.None,
    inactive_threshold: nanos(FORGOTTEN_MS),
    mem_storage: true,
    num_replicas: 1,
    ...(filters.length === 1 && { filter_subject: filters[0] }),
    ...(filters.length > 1 && { filter_subjects: filters }),
  })
}

async function* messagesAfter(session: Session, options: ReadOptions): AsyncGenerator<StoredMessage> {
  const { jsm, stream } = session
  const { subjects, live, signal, missed, reader } = options
  const { name, num_pending } = await addConsumer(session, options)
  /** Sequence up to which all messages have arrived. */
  let through = options.after
  const reportRemoved = async () => {
    if (!missed) return
    const removed = removedThrough((await jsm.streams.info(stream)).state)
    if (removed > through) missed({ after: through, through: removed })
  }
  const arrived: Msg[] = []
  /** Numbers of messages that have yet to arrive, and that were taken from `arrived`. The server numbers the latter. */
  let [awaited, given] = [0, 0]
  /** Whether the caller has handled all messages that have arrived, and waits for the next one. */
  let isWaiting = false
  let failure: BusUnavailable | undefined
  let wake = () => {}
  const pull = openPull(session, name, {
    message(msg) {
      awaited--
      arrived.push(msg)
      wake()
    },
    ended() {
      awaited = 0
      wake()
    },
    failed(error) {
      failure ??= session.lost.aborted ? error : new Gone(error)
      wake()
    },
  })
  const hasAll = ({ num_pending, delivered }: ConsumerInfo) =>
    num_pending === 0 && delivered.consumer_seq === given && isWaiting && arrived.length === 0
  const notePassed = (sequence: number) => {
    through = sequence
    options.passed?.(sequence)
  }
  const endChecks = options.passed && checkPassed(session, name, hasAll, notePassed)
  const onAbort = () => wake()
  signal.addEventListener('abort', onAbort)
  try {
    await reportRemoved()
    for (let pending = num_pending; pending > 0 || live; ) {
      let askedLate = false
      while (arrived.length === 0) {
        if (failure) throw failure
        if (signal.aborted) return
        if (awaited <= 0) {
          awaited = BATCH
          askedLate = given > 0 && pending > 0
          pull.ask(BATCH, live)
        }
        isWaiting = true
        await new Promise<void>(resolve => {
          wake = resolve
        })
        isWaiting = false
      }
      // A reader at the head gets each message at once. A reader that is behind may have requested too late.
      if (askedLate) await reportRemoved()
      for (const msg of arrived.splice(0)) {
        const info = deliveryInfoOf(msg)
        if (info.given !== ++given) throw new Gone(`a message before ${info.sequence} did not arrive`)
        pending = info.pending
        through = info.sequence
        if (subjects.some(subject => subjectMatches(subject, msg.subject))) yield toStored(msg, stream)
        if (signal.aborted) return
      }
    }
  } finally {
    endChecks?.()
    signal.removeEventListener('abort', onAbort)
    await pull.close()
    // A consumer with a name stays, to tell the backlog, until the server or the next read deletes it.
    if (reader === undefined && !session.nc.isClosed())
      await jsm.consumers.delete(stream, name).catch(() => {})
  }
}

/**
 * Checks from time to time whether a reader has all messages of the stream, if the stream removes messages. Otherwise it
 * would report removed messages as missed: the server does not say on which subjects they were.
 * @returns a function that ends the checks
 */
function checkPassed(
  { jsm, stream }: Session,
  name: string,
  hasAll: (info: ConsumerInfo) => boolean,
  passed: (sequence: number) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const check = async () => {
    const { config, state } = await jsm.streams.info(stream)
    if (config.max_age === 0 && removedThrough(state) === 0) return PASSED_MS
    if (hasAll(await jsm.consumers.info(stream, name)) && !isOver) passed(state.last_seq)
    const tenthMs = config.max_age === 0 ? PASSED_MS : config.max_age / nanos(1) / 10
    return Math.max(MIN_PASSED_MS, Math.min(PASSED_MS, tenthMs))
  }
  const checkAgain = async () => {
    const pauseMs = await check().catch(() => PASSED_MS)
    if (!isOver) timer = setTimeout(checkAgain, pauseMs).unref()
  }
  void checkAgain()
  return () => {
    isOver = true
    clearTimeout(timer)
  }
}

/**
 * Sequence up to which the server has removed messages of any subject. The server does not record which subjects they had.
 */
export const removedThrough = ({ first_seq }: Pick<StreamState, 'first_seq'>): number =>
  Math.max(0, first_seq - 1)
