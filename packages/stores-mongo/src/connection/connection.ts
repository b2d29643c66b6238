import { ReadModelsUnavailable } from '@gantry/stores'
import type { Db, FindCursor } from 'mongodb'
import { isOfRequest, isOfServer, mongoFailureOf } from './errors.ts'
import { type MongoOptions, openClient } from './settings.ts'

export interface Connection {
  db: Db
  /** Runs a job against the database. @throws ReadModelsUnavailable @throws Error when the request is invalid */
  run<T>(job: () => Promise<T>): Promise<T>
  /** Waits for the jobs in progress, and closes the connection. */
  close(): Promise<void>
}

/** Connects with the first job, and reconnects when the server is back. @throws MongoRefused */
export function connect(options: MongoOptions): Connection {
  const { client, database, target } = openClient(options)
  const underWay = new Set<Promise<unknown>>()
  let closed = false
  return {
    db: client.db(database),
    async run(job) {
      if (closed) throw new ReadModelsUnavailable('they are closed')
      // All calls made before it is connected fail with the reason, not only the first one.
      const running = client.connect().then(job)
      underWay.add(running)
      try {
        return await running
      } catch (error) {
        throw failed(target, error)
      } finally {
        underWay.delete(running)
      }
    },
    async close() {
      closed = true
      await Promise.allSettled(underWay)
      await client.close()
    },
  }
}

/** Yields the documents of a cursor. Each fetch can find the server unavailable. */
export async function* each<T>(cursor: FindCursor<T>, run: Connection['run']): AsyncGenerator<T> {
  try {
    for (let next = await run(() => cursor.next()); next; next = await run(() => cursor.next())) yield next
  } finally {
    await cursor.close()
  }
}

const unavailable = (target: string, error: unknown) =>
  new ReadModelsUnavailable(new Error(`${target}: ${mongoFailureOf(error)}`, { cause: error }))

/** Translates an error for callers: errors that can be tried again become ReadModelsUnavailable, and no others do. */
export function failed(target: string, error: unknown): unknown {
  if (isOfServer(error)) return unavailable(target, error)
  if (!isOfRequest(error)) return error
  return new Error(`${target}: the request is invalid and would fail again: ${error.message}`, {
    cause: error,
  })
}
