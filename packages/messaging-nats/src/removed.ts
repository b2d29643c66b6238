import type { MissedMessages } from '@gantry/messaging'
import { type ConsumerInfo, nanos, type StreamState } from 'nats'
import type { Session } from './connection.ts'

/** Pause between two checks of the progress of a consumer, or a tenth of the retention if that is shorter. */
const POLL_MS = 600_000
const MIN_POLL_MS = 200

/**
 * Sequence up to which the server has removed messages of any subject. The server does not record which subjects they had.
 */
export const removedThrough = ({ first_seq }: Pick<StreamState, 'first_seq'>): number =>
  Math.max(0, first_seq - 1)

interface Watched {
  session: Session
  consumer: string
  missed(range: MissedMessages): void
}

/**
 * Checks periodically whether messages were removed that the durable consumer has not handled. The consumer's own state does
 * not show it: it skips removed messages, and is not updated while there is nothing for the consumer. The sequence up to
 * which everything was handled is therefore kept in the description of the consumer. Does nothing when no messages are
 * removed. A failed check is repeated by the next one.
 * @returns a function that ends the checks
 */
export function watchRemoved(watched: Watched): () => void {
  let ended = false
  let timer: NodeJS.Timeout | undefined
  const run = async () => {
    const pauseMs = await checkRemoved(watched).catch(() => POLL_MS)
    if (!ended) timer = setTimeout(run, pauseMs)
    timer?.unref()
  }
  run()
  return () => {
    ended = true
    clearTimeout(timer)
  }
}

/** @returns the pause until the next check, in milliseconds */
async function checkRemoved({ session: { jsm, stream }, consumer, missed }: Watched): Promise<number> {
  const { config, state } = await jsm.streams.info(stream)
  const removed = removedThrough(state)
  if (config.max_age === 0 && removed === 0) return POLL_MS
  const info = await jsm.consumers.info(stream, consumer)
  const noted = notedIn(info)
  if (noted !== undefined && noted < removed) missed({ after: noted, through: removed })
  const handled = Math.max(handledBy(info, state), removed)
  if (noted === undefined || handled > noted)
    await jsm.consumers.update(stream, consumer, { description: `${NOTE}${handled}` })
  const tenthMs = config.max_age === 0 ? POLL_MS : config.max_age / nanos(1) / 10
  return Math.max(MIN_POLL_MS, Math.min(POLL_MS, tenthMs))
}

const NOTE = 'has handled everything up to '
const notedIn = ({ config: { description = '' } }: ConsumerInfo): number | undefined =>
  description.startsWith(NOTE) ? Number(description.slice(NOTE.length)) : undefined

/** Sequence up to which the consumer has certainly handled everything. To be read after the state of the stream. */
function handledBy(info: ConsumerInfo, { first_seq, last_seq }: StreamState): number {
  if (info.num_pending === 0 && info.num_ack_pending === 0) return last_seq
  const acknowledged = info.ack_floor.stream_seq
  // Below the first message, the server may have moved the sequence over removed messages.
  return acknowledged >= first_seq ? acknowledged : 0
}
