import { BusUnavailable } from '@gantry/messaging'
import type { UnsyncedFile } from './unsynced-file.ts'

export const CONSUMERS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS consumers (
    name TEXT PRIMARY KEY,
    sequence INTEGER NOT NULL,
    holder TEXT NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT`

/** The names of consumers with their positions in the stream. A name has one holder at a time, which renews its lease. */
export class ConsumerLeases {
  readonly #file: UnsyncedFile
  readonly #leaseMs: number
  readonly #statements: ReturnType<typeof statementsOn>
  /** Names that are held on this bus, by holder. */
  readonly #held = new Map<string, string>()

  constructor(file: UnsyncedFile, leaseMs: number) {
    this.#file = file
    this.#leaseMs = leaseMs
    this.#statements = statementsOn(file.db)
  }

  /** Takes the name. @returns the position of the consumer; undefined while another holder has the name */
  async acquire(consumer: string, holder: string): Promise<number | undefined> {
    const { commits, time } = this.#file
    const { leaseOf, take } = this.#statements
    const now = time()
    const expiresAt = Number(leaseOf.get(consumer)?.expires_at ?? 0)
    // A later expiry was set before the clock was set back.
    if (expiresAt > now && expiresAt <= now + this.#leaseMs) return undefined
    try {
      return await commits.run(() => {
        const taken = take.get({ consumer, holder, now: time(), leaseMs: this.#leaseMs })
        if (!taken) return undefined
        this.#held.set(holder, consumer)
        return Number(taken.sequence)
      })
    } catch (error) {
      this.#held.delete(holder)
      throw error
    }
  }

  /** @returns false when the name belongs to another holder, or when the file cannot be written */
  renew(consumer: string, holder: string): boolean {
    return this.#extend(consumer, holder, this.#leaseMs)
  }

  /** The position of a consumer, whatever its holder; undefined if it does not exist. */
  positionOf(consumer: string): number | undefined {
    const found = this.#statements.positionOf.get(consumer)
    return found && Number(found.sequence)
  }

  release(consumer: string, holder: string): void {
    if (!this.#held.delete(holder)) return
    this.#extend(consumer, holder, 0)
    this.#file.changes.announce()
  }

  releaseAll(): void {
    for (const [holder, consumer] of this.#held) this.release(consumer, holder)
  }

  /**
   * Saves the position immediately. Waiting for a group commit after each message would limit the throughput of a consumer.
   * @throws BusUnavailable when another holder has the name
   */
  save(consumer: string, holder: string, sequence: number): void {
    const saved = this.#file.write(() => this.#statements.advance.run(sequence, consumer, holder))
    if (saved.changes === 0) throw new BusUnavailable(`consumer ${consumer} has gone to another holder`)
  }

  #extend(consumer: string, holder: string, ms: number): boolean {
    const { write, time } = this.#file
    try {
      return write(() => this.#statements.renew.run(time() + ms, consumer, holder)).changes > 0
    } catch {
      return false
    }
  }
}

const statementsOn = (db: UnsyncedFile['db']) => ({
  positionOf: db.prepare('SELECT sequence FROM consumers WHERE name = ?'),
  leaseOf: db.prepare('SELECT expires_at FROM consumers WHERE name = ?'),
  take: db.prepare(
    `INSERT INTO consumers (name, sequence, holder, expires_at) VALUES (:consumer, 0, :holder, :now + :leaseMs)
     ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
     WHERE expires_at <= :now OR expires_at > :now + :leaseMs
     RETURNING sequence`,
  ),
  renew: db.prepare('UPDATE consumers SET expires_at = ? WHERE name = ? AND holder = ?'),
  advance: db.prepare('UPDATE consumers SET sequence = max(sequence, ?) WHERE name = ? AND holder = ?'),
})
