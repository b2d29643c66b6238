import { PassThrough, Readable } from 'node:stream'
import type { EventStoreDBClient, Filter } from '@eventstore/db-client'
import { Subscription } from '@eventstore/db-client/dist/streams/utils/Subscription.js'
import { beforeEach, expect, it } from 'vitest'
import { encode, type LogPosition } from '../server/position.ts'
import { feedAfter } from './resume.ts'

/** The records of a log by their positions, and a server that reads them as 23.10 does. */
let records: number[]
let client: EventStoreDBClient
/** Runs once, between the read of the client and that of the server. */
let meanwhile: (() => void) | undefined

const at = (record: number): LogPosition => ({ commit: BigInt(record), prepare: BigInt(record) })

beforeEach(() => {
  records = [1, 2, 3, 4, 5, 6]
  meanwhile = undefined
  client = {
    readAll({ fromPosition }: { fromPosition: LogPosition }) {
      const before = records.filter(record => record < Number(fromPosition.commit)).slice(-1)
      const page = Readable.from(before.map(record => ({ event: { position: at(record) } })))
      return Object.assign(page, { cancel: async () => {} })
    },
    subscribeToAll({ fromPosition, filter }: { fromPosition: LogPosition | 'start'; filter: Filter }) {
      meanwhile?.()
      meanwhile = undefined
      const from = fromPosition === 'start' ? -1 : Number(fromPosition.commit)
      const [taken = Number.POSITIVE_INFINITY] = records.filter(record => from >= 0 && record >= from)
      const given = records.filter(record => from < 0 || record > taken)
      const opened = new PassThrough({ objectMode: true })
      const server = Object.assign(opened, { cancel: () => opened.destroy() })
      for (const record of given) server.write({ hasEvent: () => true, getEvent: () => record })
      server.write({ hasCaughtUp: () => true })
      return new Subscription(
        async () => server as never,
        record => ({ event: { position: at(record as unknown as number) } }) as never,
        {},
        filter.checkpointReached,
      )
    },
  } as unknown as EventStoreDBClient
})

/** The positions that a subscription after a position delivers. */
async function givenAfter(record: number): Promise<number[]> {
  const stop = new AbortController()
  const options = { filter: {} as Filter, signal: stop.signal, left: stop.signal, timeoutMs: 1_000 }
  const given: number[] = []
  for await (const burst of feedAfter(client, encode(at(record)), options)) {
    for (const item of burst) {
      if (item.kind === 'caughtUp') return given
      if (item.kind === 'event') given.push(Number(item.resolved.event?.position.commit))
    }
  }
  return given
}

it.each([
  ['exists', [1, 2, 3, 4, 5, 6]],
  ['was removed', [1, 2, 4, 5, 6]],
  ['was removed with all records before it', [4, 5, 6]],
])('delivers everything after a position whose record %s', async (_, left) => {
  records = left
  expect(await givenAfter(3)).toEqual([4, 5, 6])
})

it('loses nothing when a scavenge runs between the read of the client and that of the server', async () => {
  meanwhile = () => {
    records = [1, 4, 5, 6]
  }
  expect(await givenAfter(3)).toEqual([4, 5, 6])
})
