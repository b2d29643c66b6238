import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import {
  type Bus,
  BusUnavailable,
  failureOf,
  type Json,
  NoResponder,
  RequestFailed,
  RequestTimeout,
  subjectMatches,
} from '@gantry/messaging'
import { follow } from '../changes.ts'
import { DiskFull, warnOf } from '../disk.ts'
import type { PassingFile } from './passing-file.ts'

export const REQUESTS_SCHEMA = `
  CREATE TABLE IF NOT EXISTS responders (
    responder TEXT NOT NULL,
    subject TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (responder, subject)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS requests (
    id TEXT PRIMARY KEY,
    responder TEXT NOT NULL,
    subject TEXT NOT NULL,
    data TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    answer TEXT
  ) STRICT`

/** How long the entry of a responder is valid after its last heartbeat. Heartbeats come three times as often. */
const RESPONDER_MS = 6_000

type Handler = Parameters<Bus['respond']>[1]
type Answer = { ok: Json } | { failed: { code: string; message: string; details: Record<string, unknown> } }

interface Requests extends Pick<Bus, 'request' | 'respond'> {
  /** Removes all responders of this bus. */
  withdraw(): void
}

/** Requests are answered within the process where this bus has a responder, otherwise by another bus through the file. */
export function requests({ db, write, changes, closing, time, instance }: PassingFile): Requests {
  const announceResponder = db.prepare(
    `INSERT INTO responders (responder, subject, expires_at) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET expires_at = excluded.expires_at`,
  )
  const forgetResponder = db.prepare('DELETE FROM responders WHERE responder = ? AND subject = ?')
  const forgetAll = db.prepare('DELETE FROM responders WHERE responder = ?')
  const forgetDead = db.prepare('DELETE FROM responders WHERE expires_at < ?')
  const liveResponders = db.prepare('SELECT responder, subject FROM responders WHERE expires_at > ?')
  const ask = db.prepare(
    'INSERT INTO requests (id, responder, subject, data, expires_at) VALUES (?, ?, ?, ?, ?)',
  )
  const asked = db.prepare(
    'SELECT id, subject, data FROM requests WHERE responder = ? AND answer IS NULL AND expires_at > ?',
  )
  const reply = db.prepare('UPDATE requests SET answer = ? WHERE id = ?')
  const answerTo = db.prepare('SELECT answer FROM requests WHERE id = ?')
  const forget = db.prepare('DELETE FROM requests WHERE id = ?')
  const forgetExpired = db.prepare('DELETE FROM requests WHERE expires_at < ?')

  const responders = new Set<{ subject: string; handler: Handler }>()
  let turn = 0
  let serving: AbortController | undefined

  const able = (subject: string) =>
    [...responders].filter(responder => subjectMatches(responder.subject, subject))

  const answer = async (subject: string, data: string): Promise<Answer> => {
    try {
      const responder = inTurn(able(subject))
      if (!responder) throw new NoResponder(subject)
      return { ok: await responder.handler(JSON.parse(data)) }
    } catch (error) {
      const { code, message, details } = failureOf(error)
      return { failed: { code, message, details } }
    }
  }

  const inTurn = <T>(list: T[]): T | undefined => list[turn++ % list.length]

  const askHere = async (subject: string, data: string, timeoutMs: number): Promise<string> => {
    const late = new AbortController()
    try {
      const answered = answer(subject, data)
      const deadline = setTimeout(timeoutMs, undefined, { signal: late.signal })
      const first = await Promise.race([answered, deadline])
      if (!first) throw new RequestTimeout(subject)
      return JSON.stringify(first)
    } finally {
      late.abort()
    }
  }

  const askElsewhere = async (subject: string, data: string, timeoutMs: number): Promise<string> => {
    const deadline = time() + timeoutMs
    const live = liveResponders.all(time()).filter(row => subjectMatches(String(row.subject), subject))
    const responder = inTurn(live)?.responder
    if (!responder) throw new NoResponder(subject)
    const id = randomUUID()
    write(() => ask.run(id, responder, subject, data, deadline))
    try {
      for (;;) {
        const seen = changes.count()
        const text = answerTo.get(id)?.answer
        if (typeof text === 'string') return text
        if (time() >= deadline) throw new RequestTimeout(subject)
        await changes.after(seen, closing, deadline - time())
        if (closing.aborted) throw new BusUnavailable('it is closed')
      }
    } finally {
      if (!closing.aborted) write(() => forget.run(id))
    }
  }

  const request: Bus['request'] = async (subject, data, { timeoutMs }) => {
    const ask = able(subject).length > 0 ? askHere : askElsewhere
    const answer: Answer = JSON.parse(await ask(subject, JSON.stringify(data), timeoutMs))
    if ('ok' in answer) return answer.ok
    const { code, message, details } = answer.failed
    throw new RequestFailed(code, message, details)
  }

  /** Answers the requests of other buses while this bus has responders. */
  const serve = (signal: AbortSignal) => {
    const underWay = new Set<string>()
    const handle = async (id: string, subject: string, data: string) => {
      underWay.add(id)
      const answered = JSON.stringify(await answer(subject, data))
      try {
        if (!closing.aborted) write(() => reply.run(answered, id))
      } finally {
        underWay.delete(id)
      }
    }
    const look = () => {
      for (const { id, subject, data } of asked.all(instance, time())) {
        if (!underWay.has(String(id))) handle(String(id), String(subject), String(data)).catch(warnOf)
      }
    }
    const heartbeat = setInterval(() => {
      try {
        announce()
      } catch (error) {
        warnOf(error)
      }
    }, RESPONDER_MS / 3)
    signal.addEventListener('abort', () => clearInterval(heartbeat))
    follow(changes, signal, look)
  }

  /** Renews the entries of the responders of this bus, and deletes expired entries and requests. */
  const announce = () => {
    for (const { subject } of responders)
      write(() => announceResponder.run(instance, subject, time() + RESPONDER_MS))
    write(() => forgetDead.run(time()))
    write(() => forgetExpired.run(time()))
  }

  /** Runs a statement and ignores a full disk. The rows that it would write or delete expire or are written again. */
  const unlessFull = (statement: () => unknown) => {
    try {
      statement()
    } catch (error) {
      if (!(error instanceof DiskFull)) throw error
    }
  }

  const respond: Bus['respond'] = (subject, handler) => {
    const responder = { subject, handler }
    responders.add(responder)
    unlessFull(announce)
    if (!serving) {
      serving = new AbortController()
      serve(AbortSignal.any([serving.signal, closing]))
    }
    return () => {
      responders.delete(responder)
      if (closing.aborted) return
      if (![...responders].some(other => other.subject === subject))
        unlessFull(() => write(() => forgetResponder.run(instance, subject)))
      if (responders.size > 0) return
      serving?.abort()
      serving = undefined
    }
  }

  const withdraw = () => {
    responders.clear()
    unlessFull(() => write(() => forgetAll.run(instance)))
  }

  return { request, respond, withdraw }
}
