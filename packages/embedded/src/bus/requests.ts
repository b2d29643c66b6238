import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import {
  type Bus,
  BusUnavailable,
  type Json,
  NoResponder,
  type RequestOptions,
  RequestTimeout,
  replyOf,
  resultOf,
  subjectMatches,
} from '@gantry/messaging'
import { RESPONDERS_SCHEMA, Responders } from './responders.ts'
import type { UnsyncedFile } from './unsynced-file.ts'

/** `answer` is the reply of the responder. */
export const REQUESTS_SCHEMA = `
  ${RESPONDERS_SCHEMA};
  CREATE TABLE IF NOT EXISTS requests (
    id TEXT PRIMARY KEY,
    responder TEXT NOT NULL,
    subject TEXT NOT NULL,
    data TEXT NOT NULL,
    headers TEXT,
    expires_at INTEGER NOT NULL,
    answer TEXT
  ) STRICT`

interface Requests extends Pick<Bus, 'request' | 'respond'> {
  /** Removes all responders of this bus. */
  withdraw(): void
}

/** Requests are answered within the process where this bus has a responder, otherwise by another bus through the file. */
export function requests(file: UnsyncedFile): Requests {
  const responders = new Responders(file)
  const requestThroughFile = fileRequests(file)

  return {
    async request(subject, data, { timeoutMs, headers }) {
      const json = JSON.stringify(data)
      const handler = responders.next(subject)
      const reply = handler
        ? await replyInTime(() => handler(JSON.parse(json), headers), subject, timeoutMs)
        : await requestThroughFile(subject, json, { timeoutMs, headers })
      return resultOf(JSON.parse(reply))
    },
    respond: (subject, handler) => responders.respond(subject, handler),
    withdraw: () => responders.withdraw(),
  }
}

async function replyInTime(
  respond: () => Promise<Json>,
  subject: string,
  timeoutMs: number,
): Promise<string> {
  const late = new AbortController()
  try {
    const deadline = setTimeout(timeoutMs, undefined, { signal: late.signal })
    const reply = await Promise.race([replyOf(respond), deadline])
    if (!reply) throw new RequestTimeout(subject)
    return JSON.stringify(reply)
  } finally {
    late.abort()
  }
}

/** @returns a function that sends a request to another bus on the file. Its data and its reply are JSON */
function fileRequests({ db, commits, changes, closing, time }: UnsyncedFile) {
  const liveResponders = db.prepare('SELECT responder, subject FROM responders WHERE expires_at > ?')
  const insert = db.prepare(
    'INSERT INTO requests (id, responder, subject, data, headers, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const replyTo = db.prepare('SELECT answer FROM requests WHERE id = ?')
  const remove = db.prepare('DELETE FROM requests WHERE id = ?')
  let next = 0

  return async (subject: string, data: string, { timeoutMs, headers }: RequestOptions): Promise<string> => {
    const deadline = time() + timeoutMs
    const live = liveResponders.all(time()).filter(row => subjectMatches(String(row.subject), subject))
    const responder = live[next++ % live.length]?.responder
    if (!responder) throw new NoResponder(subject)
    const id = randomUUID()
    const storedHeaders = headers ? JSON.stringify(headers) : null
    await commits.run(() => insert.run(id, responder, subject, data, storedHeaders, deadline))
    try {
      for (;;) {
        const seen = changes.count()
        const reply = replyTo.get(id)?.answer
        if (typeof reply === 'string') return reply
        if (time() >= deadline) throw new RequestTimeout(subject)
        await changes.after(seen, closing, deadline - time())
        if (closing.aborted) throw new BusUnavailable('it is closed')
      }
    } finally {
      if (!closing.aborted) await commits.run(() => remove.run(id))
    }
  }
}
