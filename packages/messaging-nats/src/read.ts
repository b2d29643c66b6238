import { type Bus, BusUnavailable, type StoredMessage, subjectMatches } from '@gantry/messaging'
import { AckPolicy, DeliverPolicy, type Msg, nanos } from 'nats'
import type { Connection, Session } from './connection.ts'
import { toBusError } from './errors.ts'
import { filtersFor } from './filter.ts'
import { openPull } from './pull.ts'
import { removedThrough } from './removed.ts'
import { deliveryInfoOf, toStored } from './stored-message.ts'

/** Maximum number of messages that wait here for a slow reader, of up to `max_payload` bytes each. */
const BATCH = 64
/**
 * The server deletes the consumer of a reader that requests nothing for this long. The reader then continues with a new one.
 */
const FORGOTTEN_MS = 300_000

type Options = Parameters<Bus['read']>[0]

/** Reads the stream with a consumer that exists as long as the read. Nothing is acknowledged or stored. */
export function reader(
  connection: Connection,
  closing: AbortSignal,
): (options: Options) => AsyncGenerator<StoredMessage> {
  return async function* read({ subjects, after, live, signal, missed }) {
    const ending = AbortSignal.any([signal, closing])
    let position = after
    while (!ending.aborted) {
      const session = await connection.session()
      const rest = { subjects, after: position, live, signal: ending, ...(missed && { missed }) }
      try {
        for await (const message of messagesAfter(session, rest)) {
          position = message.sequence
          yield message
        }
        return
      } catch (error) {
        // The server has deleted the consumer of a slow reader.
        if (!(error instanceof Gone) || session.lost.aborted) throw toBusError(session, error)
      }
    }
  }
}

/** The consumer no longer exists or has skipped a message. The read continues with a new one. */
class Gone extends BusUnavailable {}

async function* messagesAfter(session: Session, options: Options): AsyncGenerator<StoredMessage> {
  const { jsm, stream, stored, severalFilters } = session
  const { subjects, after, live, signal, missed } = options
  const filters = filtersFor(subjects, { stored, several: severalFilters })
  const { name, num_pending } = await jsm.consumers.add(stream, {
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq: after + 1,
    ack_policy: AckPolicy.None,
    inactive_threshold: nanos(FORGOTTEN_MS),
    mem_storage: true,
    num_replicas: 1,
    ...(filters.length === 1 && { filter_subject: filters[0] }),
    ...(filters.length > 1 && { filter_subjects: filters }),
  })
  let last = after
  const reportRemoved = async () => {
    if (!missed) return
    const through = removedThrough((await jsm.streams.info(stream)).state)
    if (through > last) missed({ after: last, through })
  }
  const arrived: Msg[] = []
  let awaited = 0
  let given = 0
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
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
      // A reader at the head gets each message at once. A reader that is behind may have requested too late.
      if (askedLate) await reportRemoved()
      for (const msg of arrived.splice(0)) {
        const info = deliveryInfoOf(msg)
        if (info.given !== ++given) throw new Gone(`a message before ${info.sequence} did not arrive`)
        pending = info.pending
        last = info.sequence
        if (subjects.some(subject => subjectMatches(subject, msg.subject))) yield toStored(msg, stream)
        if (signal.aborted) return
      }
    }
  } finally {
    signal.removeEventListener('abort', onAbort)
    await pull.close()
    if (!session.nc.isClosed()) await jsm.consumers.delete(stream, name).catch(() => {})
  }
}
