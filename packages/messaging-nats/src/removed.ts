import type { MissedMessages } from '@gantry/messaging'
import { type ConsumerInfo, nanos, type StreamState } from 'nats'
import type { Session } from './connection.ts'

/** Between two looks at how far a consumer has come, or a tenth of the retention if that is shorter. */
const LOOK_MS = 600_000
const SHORTEST_LOOK_MS = 200

/** Place up to which the server has removed messages of any subject: it keeps no record of which they were. */
export const removedThrough = ({ first_seq }: Pick<StreamState, 'first_seq'>): number =>
  Math.max(0, first_seq - 1)

interface Watched {
  session: Session
  consumer: string
  missed(range: MissedMessages): void
}

/**
 * Looks now and then whether messages were removed that the durable consumer has not handled. The server's own record
 * does not tell: it passes over what is removed, and does not note that there was nothing for a quiet consumer. So the
 * place up to which the consumer has handled everything is kept in its description. Does nothing where no messages are
 * removed. A look that fails is made up for by the next one.
 * @returns ends it
 */
export function watchRemoved(watched: Watched): () => void {
  let ended = false
  let timer: NodeJS.Timeout | undefined
  const run = async () => {
    const pauseMs = await look(watched).catch(() => LOOK_MS)
    if (!ended) timer = setTimeout(run, pauseMs)
    timer?.unref()
  }
  run()
  return () => {
    ended = true
    clearTimeout(timer)
  }
}

/** @returns how long until the next look, in milliseconds */
async function look({ session: { jsm, stream }, consumer, missed }: Watched): Promise<number> {
  const { config, state } = await jsm.streams.info(stream)
  const removed = removedThrough(state)
  if (config.max_age === 0 && removed === 0) return LOOK_MS
  const info = await jsm.consumers.info(stream, consumer)
  const noted = notedIn(info)
  if (noted !== undefined && noted < removed) missed({ after: noted, through: removed })
  const handled = Math.max(handledBy(info, state), removed)
  if (noted === undefined || handled > noted)
    await jsm.consumers.update(stream, consumer, { description: `${NOTE}${handled}` })
  const tenthMs = config.max_age === 0 ? LOOK_MS : config.max_age / nanos(1) / 10
  return Math.max(SHORTEST_LOOK_MS, Math.min(LOOK_MS, tenthMs))
}

const NOTE = 'has handled everything up to '
const notedIn = ({ config: { description = '' } }: ConsumerInfo): number | undefined =>
  description.startsWith(NOTE) ? Number(description.slice(NOTE.length)) : undefined

/** Place up to which the consumer has handled everything, as far as that is certain; looked up after the stream. */
function handledBy(info: ConsumerInfo, { first_seq, last_seq }: StreamState): number {
  if (info.num_pending === 0 && info.num_ack_pending === 0) return last_seq
  const acknowledged = info.ack_floor.stream_seq
  // Below the first message it may only have been moved there by the server.
  return acknowledged >= first_seq ? acknowledged : 0
}
