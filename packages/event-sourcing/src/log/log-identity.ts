import { randomUUID } from 'node:crypto'
import { type NewEvent, streamName } from './event.ts'
import { type EventStore, NO_STREAM, WrongExpectedRevision } from './event-store.ts'

/** Header of a published message: identity of the log that has its fact. */
export const LOG_IDENTITY = 'log-identity'

/** The id of its last event is the identity of the log. */
const STREAM = streamName('log', 'identity')

const identified = (): NewEvent => {
  const id = randomUUID()
  const metadata = { actor: { id: null, name: 'log' }, requestId: id, at: new Date().toISOString() }
  return { id, type: 'LogIdentified', data: {}, metadata }
}

type Log = Pick<EventStore, 'append' | 'readLast'>

/**
 * The identity of the log, a UUID, which positions belong to. The first call for an empty log makes it. It is a part of
 * copies of the log: what puts a copy in the place of the log renews it.
 */
export async function logIdentity(log: Log): Promise<string> {
  const last = await log.readLast(STREAM)
  if (last) return last.id
  const event = identified()
  try {
    await log.append(STREAM, [event], NO_STREAM)
    return event.id
  } catch (error) {
    if (!(error instanceof WrongExpectedRevision)) throw error
    // Another process was first.
    return logIdentity(log)
  }
}

/** Gives the log a new identity, so that positions in the log whose place it takes are refused. */
export async function renewLogIdentity(log: Log): Promise<void> {
  const last = await log.readLast(STREAM)
  await log.append(STREAM, [identified()], last?.revision ?? NO_STREAM)
}
