import { BACKWARDS, END, type ReadPosition } from '@eventstore/db-client'
import { type Position, START } from '@gantry/event-sourcing'
import { isOfSystem } from './recorded.ts'
import { encode } from './server/position.ts'
import { read } from './server/read.ts'
import type { Connection } from './server/server.ts'

/** Number of events per read. The last event is nearly always one of a service, so the first read is small. */
const FIRST = 4
const MORE = 1_000

/**
 * @returns a function that finds the position of the last event that is not the server's own. It examines each event of the
 * server at the end of the log, e.g. its statistics, only once
 */
export function headOf(connection: () => Connection, timeoutMs: number): () => Promise<Position> {
  let known = { end: START, head: START }

  return async () => {
    const { client, left } = connection()
    let end: Position | undefined
    let from: ReadPosition = END
    for (let count = FIRST; ; count = MORE) {
      let seen = 0
      const page = client.readAll({ direction: BACKWARDS, fromPosition: from, maxCount: count })
      for await (const { event } of read(page, { timeoutMs, left })) {
        seen++
        if (!event) continue
        from = event.position
        const position = encode(event.position)
        end ??= position
        if (isOfSystem(event) && position > known.end) continue
        known = { end, head: position > known.end ? position : known.head }
        return known.head
      }
      if (seen < count) return START
    }
  }
}
