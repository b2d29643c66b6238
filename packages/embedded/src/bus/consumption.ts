import { randomUUID } from 'node:crypto'
import { type Bus, type Delivered, sleep } from '@gantry/messaging'
import { ConsumerLeases } from './consumer-leases.ts'
import { fallsUnder, type MessageRow, type Removed, storedSubjects, toMessage } from './messages.ts'
import type { UnsyncedFile } from './unsynced-file.ts'

interface Consumption {
  consume(options: Parameters<Bus['consume']>[0]): AsyncGenerator<Delivered>
  backlog: Bus['backlog']
  /** Releases the names that the consumers of this bus hold. */
  release(): void
}

interface ConsumptionOptions {
  pageAfter(sequence: number): Promise<MessageRow[]>
  removed: Removed
  leaseMs: number
  redeliverAfterMs: number
}

/** The position is also saved after this many messages on other subjects, so that a restart does not read them again. */
const SAVE_EVERY = 1_000

/** Reads only index entries after the sequence: a grouped count of all subjects would read the whole index at each scrape. */
export const COUNT_AFTER = 'SELECT count(*) AS messages FROM messages WHERE subject = ? AND sequence > ?'

/**
 * Consumers of the stream of messages. The acknowledgements of a holder that was paused until another took over are refused.
 */
export function consumption(
  file: UnsyncedFile,
  { pageAfter, removed, leaseMs, redeliverAfterMs }: ConsumptionOptions,
): Consumption {
  const { changes, closing } = file
  const leases = new ConsumerLeases(file, leaseMs)

  async function* consume(options: Parameters<Bus['consume']>[0]): AsyncGenerator<Delivered> {
    const { consumer } = options
    const ending = AbortSignal.any([options.signal, closing])
    const holder = randomUUID()
    while (!ending.aborted) {
      const seen = changes.count()
      const position = await leases.acquire(consumer, holder)
      if (position === undefined) {
        await changes.after(seen, ending, leaseMs / 10)
        continue
      }
      const lost = new AbortController()
      const renewal = setInterval(() => {
        if (!leases.renew(consumer, holder)) lost.abort()
      }, leaseMs / 3)
      try {
        yield* deliver(options, holder, position, AbortSignal.any([ending, lost.signal]))
      } finally {
        clearInterval(renewal)
        leases.release(consumer, holder)
      }
    }
  }

  async function* deliver(
    { consumer, subjects, missed }: Parameters<Bus['consume']>[0],
    holder: string,
    from: number,
    ending: AbortSignal,
  ): AsyncGenerator<Delivered> {
    let position = from
    let saved = from
    /** Sequence up to which `missed` has reported removed messages. */
    let reported = from
    while (!ending.aborted) {
      const seen = changes.count()
      const page = await pageAfter(position)
      const through = removed.after(Math.max(position, reported), subjects)
      if (through !== undefined) missed?.({ after: position, through })
      reported = through ?? reported
      for (const row of page) {
        if (ending.aborted) return
        if (fallsUnder(subjects, row.subject)) {
          const save = () => leases.save(consumer, holder, row.sequence)
          yield* untilAcknowledged(row, { save, redeliverAfterMs, ending })
          saved = row.sequence
        }
        position = row.sequence
      }
      if (position - saved >= SAVE_EVERY) {
        leases.save(consumer, holder, position)
        saved = position
      }
      if (page.length === 0) await changes.after(seen, ending)
    }
  }

  const subjectsUnder = storedSubjects(file.db)
  const countAfter = file.db.prepare(COUNT_AFTER)
  const backlog: Bus['backlog'] = async ({ consumer, subjects }) => {
    const position = leases.positionOf(consumer)
    let messages = 0
    if (position === undefined) return messages
    for (const subject of subjectsUnder(subjects))
      messages += Number(countAfter.get(subject, position)?.messages)
    return messages
  }

  return { consume, backlog, release: () => leases.releaseAll() }
}

/** Delivers a message until it is acknowledged. `save` saves the position of the consumer. */
async function* untilAcknowledged(
  row: MessageRow,
  { save, redeliverAfterMs, ending }: { save(): void; redeliverAfterMs: number; ending: AbortSignal },
) {
  let acknowledged = false
  let waiting: AbortController | undefined
  const ack = async () => {
    save()
    acknowledged = true
    waiting?.abort()
  }
  while (!acknowledged && !ending.aborted) {
    yield { message: toMessage(row), ack }
    if (acknowledged) return
    waiting = new AbortController()
    const signal = AbortSignal.any([ending, waiting.signal])
    await sleep(redeliverAfterMs, { signal })
  }
}
