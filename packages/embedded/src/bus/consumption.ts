import { randomUUID } from 'node:crypto'
import { type Bus, BusUnavailable, type Delivered, sleep } from '@gantry/messaging'
import { fallsUnder, type MessageRow, type Removed, toMessage } from './messages.ts'
import type { PassingFile } from './passing-file.ts'

export const CONSUMERS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS consumers (
    name TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL,
    holder TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT`

interface Consumption {
  consume(options: Parameters<Bus['consume']>[0]): AsyncGenerator<Delivered>
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

/**
 * Consumers and their positions in the stream. A consumer name has one holder at a time, which renews its lease while it
 * consumes. The acknowledgements of a holder that was paused until another took over are refused.
 */
export function consumption(
  { db, commits, write, changes, closing, time }: PassingFile,
  { pageAfter, removed, leaseMs, redeliverAfterMs }: ConsumptionOptions,
): Consumption {
  const leaseOf = db.prepare('SELECT expires_at FROM consumers WHERE name = ?')
  const take = db.prepare(
    `INSERT INTO consumers (name, sequence, holder, expires_at) VALUES (?, 0, ?, ?)
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
     WHERE expires_at <= ?
     RETURNING sequence`,
  )
  const renew = db.prepare('UPDATE consumers SET expires_at = ? WHERE name = ? AND holder = ?')
  const advance = db.prepare('UPDATE consumers SET sequence = max(sequence, ?) WHERE name = ? AND holder = ?')
  /** Names that are held on this bus, by holder. */
  const held = new Map<string, string>()

  /** Takes the name. @returns the position of the consumer; undefined while another holder has the name */
  const acquire = async (consumer: string, holder: string): Promise<number | undefined> => {
    if (Number(leaseOf.get(consumer)?.expires_at ?? 0) > time()) return undefined
    try {
      return await commits.run(() => {
        const taken = take.get(consumer, holder, time() + leaseMs, time())
        if (!taken) return undefined
        held.set(holder, consumer)
        return Number(taken.sequence)
      })
    } catch (error) {
      held.delete(holder)
      throw error
    }
  }

  /** @returns false when the name belongs to another holder, or when the file cannot be written */
  const extend = (consumer: string, holder: string, ms: number) => {
    try {
      return write(() => renew.run(time() + ms, consumer, holder)).changes > 0
    } catch {
      return false
    }
  }

  const giveBack = (holder: string, consumer: string) => {
    if (!held.delete(holder)) return
    extend(consumer, holder, 0)
    changes.announce()
  }

  /**
   * Saves the position immediately. Waiting for a group commit after each message would limit the throughput of a consumer.
   */
  const save = async (consumer: string, holder: string, sequence: number) => {
    if (write(() => advance.run(sequence, consumer, holder)).changes === 0)
      throw new BusUnavailable(`consumer ${consumer} has gone to another holder`)
  }

  async function* consume(options: Parameters<Bus['consume']>[0]): AsyncGenerator<Delivered> {
    const { consumer } = options
    const ending = AbortSignal.any([options.signal, closing])
    const holder = randomUUID()
    while (!ending.aborted) {
      const seen = changes.count()
      const place = await acquire(consumer, holder)
      if (place === undefined) {
        await changes.after(seen, ending, leaseMs / 10)
        continue
      }
      const lost = new AbortController()
      const renewal = setInterval(() => {
        if (!extend(consumer, holder, leaseMs)) lost.abort()
      }, leaseMs / 3)
      try {
        yield* deliver(options, holder, place, AbortSignal.any([ending, lost.signal]))
      } finally {
        clearInterval(renewal)
        giveBack(holder, consumer)
      }
    }
  }

  async function* deliver(
    { consumer, subjects, missed }: Parameters<Bus['consume']>[0],
    holder: string,
    from: number,
    ending: AbortSignal,
  ): AsyncGenerator<Delivered> {
    let place = from
    let saved = from
    /** Sequence up to which `missed` has reported removed messages. */
    let told = from
    while (!ending.aborted) {
      const seen = changes.count()
      const page = await pageAfter(place)
      const through = removed.after(Math.max(place, told), subjects)
      if (through !== undefined) missed?.({ after: place, through })
      told = through ?? told
      for (const row of page) {
        if (ending.aborted) return
        if (fallsUnder(subjects, row.subject)) {
          yield* untilAcknowledged(row, () => save(consumer, holder, row.sequence), ending)
          saved = row.sequence
        }
        place = row.sequence
      }
      if (place - saved >= SAVE_EVERY) {
        await save(consumer, holder, place)
        saved = place
      }
      if (page.length === 0) await changes.after(seen, ending)
    }
  }

  async function* untilAcknowledged(row: MessageRow, handled: () => Promise<void>, ending: AbortSignal) {
    let acknowledged = false
    let waiting: AbortController | undefined
    const ack = async () => {
      await handled()
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

  const release = () => {
    for (const [holder, consumer] of held) giveBack(holder, consumer)
  }

  return { consume, release }
}
