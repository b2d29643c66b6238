import { ReadModelsUnavailable } from '@gantry/read-models'
import type { Db } from 'mongodb'
import { isOfRequest, isOfServer, reasonOf } from './reason.ts'
import { type MongoOptions, openClient } from './settings.ts'

export interface Connection {
  db: Db
  /** Runs a job against the database. @throws ReadModelsUnavailable @throws Error when the request is at fault */
  run<T>(job: () => Promise<T>): Promise<T>
  /** Waits for the jobs under way, and ends for good. */
  close(): Promise<void>
}

/** Connects with the first job, and again by itself whenever the server is back. @throws MongoRefused */
export function connect(options: MongoOptions): Connection {
  const { client, database, place } = openClient(options)
  const underWay = new Set<Promise<unknown>>()
  let closed = false
  return {
    db: client.db(database),
    async run(job) {
      if (closed) throw new ReadModelsUnavailable('they are closed')
      // Calls that come before it is connected all hear why it cannot be, rather than one of them.
      const running = client.connect().then(job)
      underWay.add(running)
      try {
        return await running
      } catch (error) {
        throw failed(place, error)
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

export const unavailable = (place: string, error: unknown) =>
  new ReadModelsUnavailable(new Error(`${place}: ${reasonOf(error)}`, { cause: error }))

/** What a failure is for callers: what can be tried again is ReadModelsUnavailable, and nothing else is. */
export function failed(place: string, error: unknown): unknown {
  if (isOfServer(error)) return unavailable(place, error)
  if (!isOfRequest(error)) return error
  return new Error(`${place}: the request is wrong, and fails again: ${error.message}`, { cause: error })
}
