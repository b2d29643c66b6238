import { type Bus, type Headers, type Json, NoResponder, replyOf, subjectMatches } from '@gantry/messaging'
import { runAfterChanges } from '../sqlite/changes.ts'
import { DiskFull, warnOf } from '../sqlite/disk.ts'
import type { UnsyncedFile } from './unsynced-file.ts'

export const RESPONDERS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS responders (
    responder TEXT NOT NULL,
    subject TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (responder, subject)
  ) STRICT`

/** How long the entry of a responder is valid after its last heartbeat. Heartbeats come three times as often. */
const RESPONDER_MS = 6_000

interface Question {
  data: Json
  headers: Headers | undefined
}

interface Responder {
  subject: string
  handler: Parameters<Bus['respond']>[1]
}

/**
 * The responders of this bus. Their subjects are in the file, so that other buses on the file send their requests here. They
 * are answered while this bus has responders.
 */
export class Responders {
  readonly #file: UnsyncedFile
  readonly #statements: ReturnType<typeof statementsOn>
  readonly #responders = new Set<Responder>()
  /** Requests of other buses that are being answered, by id. */
  readonly #underWay = new Set<string>()
  #next = 0
  #serving: AbortController | undefined

  constructor(file: UnsyncedFile) {
    this.#file = file
    this.#statements = statementsOn(file.db)
  }

  /** One of the responders for the subject, in turn; undefined when this bus has none. */
  next(subject: string): Responder['handler'] | undefined {
    const matching = [...this.#responders].filter(responder => subjectMatches(responder.subject, subject))
    return matching[this.#next++ % matching.length]?.handler
  }

  respond(subject: string, handler: Responder['handler']): () => void {
    const responder = { subject, handler }
    this.#responders.add(responder)
    unlessFull(() => this.#announce())
    this.#serving ??= this.#serve()
    return () => this.#remove(responder)
  }

  /** Removes all responders of this bus. */
  withdraw(): void {
    const { write, instance } = this.#file
    this.#responders.clear()
    unlessFull(() => write(() => this.#statements.removeAll.run(instance)))
  }

  #remove(responder: Responder): void {
    const { write, instance, closing } = this.#file
    this.#responders.delete(responder)
    if (closing.aborted) return
    if (![...this.#responders].some(({ subject }) => subject === responder.subject))
      unlessFull(() => write(() => this.#statements.remove.run(instance, responder.subject)))
    if (this.#responders.size > 0) return
    this.#serving?.abort()
    this.#serving = undefined
  }

  /** Answers the requests of other buses until the returned controller is aborted. */
  #serve(): AbortController {
    const { changes, closing } = this.#file
    const serving = new AbortController()
    const signal = AbortSignal.any([serving.signal, closing])
    const heartbeat = setInterval(() => {
      try {
        this.#announce()
      } catch (error) {
        warnOf(error)
      }
    }, RESPONDER_MS / 3)
    signal.addEventListener('abort', () => clearInterval(heartbeat))
    runAfterChanges(changes, signal, () => this.#answerRequests())
    return serving
  }

  #answerRequests(): void {
    const { instance, time } = this.#file
    for (const { id, subject, data, headers } of this.#statements.openRequests.all(instance, time())) {
      if (this.#underWay.has(String(id))) continue
      const given = headers === null ? undefined : JSON.parse(String(headers))
      this.#answer(String(id), String(subject), { data: JSON.parse(String(data)), headers: given }).catch(
        warnOf,
      )
    }
  }

  async #answer(id: string, subject: string, { data, headers }: Question): Promise<void> {
    const { write, closing } = this.#file
    this.#underWay.add(id)
    const handler = this.next(subject)
    const reply = await replyOf(async () => {
      if (!handler) throw new NoResponder(subject)
      return handler(data, headers)
    })
    try {
      if (!closing.aborted) write(() => this.#statements.saveReply.run(JSON.stringify(reply), id))
    } finally {
      this.#underWay.delete(id)
    }
  }

  /** Renews the entries of the responders of this bus, and deletes expired entries and requests. */
  #announce(): void {
    const { write, instance, time } = this.#file
    const { announce, removeExpired, removeExpiredRequests } = this.#statements
    for (const { subject } of this.#responders)
      write(() => announce.run(instance, subject, time() + RESPONDER_MS))
    write(() => removeExpired.run(time()))
    write(() => removeExpiredRequests.run(time()))
  }
}

const statementsOn = (db: UnsyncedFile['db']) => ({
  announce: db.prepare(
    `INSERT INTO responders (responder, subject, expires_at) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET expires_at = excluded.expires_at`,
  ),
  remove: db.prepare('DELETE FROM responders WHERE responder = ? AND subject = ?'),
  removeAll: db.prepare('DELETE FROM responders WHERE responder = ?'),
  removeExpired: db.prepare('DELETE FROM responders WHERE expires_at < ?'),
  openRequests: db.prepare(
    `SELECT id, subject, data, headers FROM requests
     WHERE responder = ? AND answer IS NULL AND expires_at > ?`,
  ),
  saveReply: db.prepare('UPDATE requests SET answer = ? WHERE id = ?'),
  removeExpiredRequests: db.prepare('DELETE FROM requests WHERE expires_at < ?'),
})

/** Runs a statement and ignores a full disk. The rows that it would write or delete expire or are written again. */
function unlessFull(statement: () => unknown): void {
  try {
    statement()
  } catch (error) {
    if (!(error instanceof DiskFull)) throw error
  }
}
