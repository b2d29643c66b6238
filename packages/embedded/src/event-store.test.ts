import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import {
  type EventStore,
  EventStoreUnavailable,
  type NewEvent,
  NO_STREAM,
  type RecordedEvent,
  START,
} from '@gantry/event-sourcing'
import { eventStoreContract } from '@gantry/event-sourcing/testing'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { sqliteEventStore } from './event-store.ts'
import { child } from './fixtures/child.ts'

const opening = (exclusive: boolean) => async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-events-'))
  const open = async () => sqliteEventStore({ path: join(folder, 'events.db'), exclusive })
  const eventStore = await open()
  return {
    eventStore,
    ...(!exclusive && {
      reopen: open,
      async appendText(stream: string, data: string) {
        await eventStore.append(stream, [counted(0)], NO_STREAM)
        const file = new DatabaseSync(join(folder, 'events.db'))
        file.prepare('UPDATE events SET data = ? WHERE stream = ?').run(data, stream)
        file.close()
      },
    }),
    async close() {
      await eventStore.close()
      await rm(folder, { recursive: true })
    },
  }
}
eventStoreContract('SQLite', opening(false))
eventStoreContract('SQLite, with the file to itself', opening(true))

describe('an event store in a SQLite file', () => {
  let folder: string
  let path: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gantry-events-'))
    path = join(folder, 'data', 'events.db')
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('erases removed events from the file, and does not reuse their positions after a restart', async () => {
    const eventStore = sqliteEventStore({ path })
    await eventStore.append('api-1', [counted(0)], NO_STREAM)
    const secret: NewEvent = { ...counted(1), data: { text: 'a-payload-to-erase' } }
    await eventStore.append('delivery-1', [secret, counted(2)], NO_STREAM)
    await eventStore.remove('delivery-1', 1)
    expect((await everything(eventStore)).map(event => event.stream)).toEqual(['api-1'])
    await eventStore.close()
    expect(await readFile(path, 'latin1')).not.toContain('a-payload-to-erase')

    const reopened = sqliteEventStore({ path, exclusive: true })
    expect(await reopened.head()).toBe('0000000000000003')
    expect(await reopened.append('api-1', [counted(3)], 0)).toEqual({
      revision: 1,
      position: '0000000000000004',
    })
    await reopened.close()
  })

  it('wakes subscriptions of its own process without a poll', async () => {
    const eventStore = sqliteEventStore({ path, exclusive: true })
    const controller = new AbortController()
    const seen: unknown[] = []
    const following = (async () => {
      for await (const item of eventStore.subscribe({ after: START, signal: controller.signal })) {
        if (item.kind === 'event') seen.push(item.event.data.number)
      }
    })()
    for (let number = 0; number < 3; number++) {
      await eventStore.append('api-1', [counted(number)], number - 1)
      await eventually(() => expect(seen).toHaveLength(number + 1))
    }
    controller.abort()
    await following
    await eventStore.close()
  })

  it('resolves appends, reads, refusals and removals only once what they show is durable', async () => {
    const syncs: (() => void)[] = []
    const sync = Object.assign(() => new Promise<void>(resolve => syncs.push(resolve)), { async close() {} })
    const eventStore = sqliteEventStore({ path, exclusive: true, sync })
    const turn = () => new Promise<void>(resolve => setImmediate(() => setImmediate(resolve)))
    const settled: string[] = []
    const noting = <T>(name: string, answer: Promise<T>) => answer.finally(() => settled.push(name))
    const syncNow = async () => {
      syncs.shift()?.()
      await turn()
    }

    const before = eventStore.append('api-0', [counted(0)], NO_STREAM)
    await turn()
    await syncNow()
    await before

    const appended = noting('append', eventStore.append('api-1', [counted(0)], NO_STREAM))
    await turn()
    const read = noting('read', eventStore.readStream('api-1'))
    const refused = noting('refusal', eventStore.append('api-1', [counted(1)], NO_STREAM)).catch(() => {})
    expect(await eventStore.readStream('api-0'), 'is durable already').toHaveLength(1)
    expect(await everything(eventStore), 'follows what is durable').toHaveLength(1)
    await turn()
    expect(settled).toEqual([])
    await syncNow()
    expect(settled).toEqual(['append'])
    await syncNow()
    expect(settled.toSorted()).toEqual(['append', 'read', 'refusal'])
    expect(await read).toHaveLength(1)
    await Promise.all([appended, refused])

    const removed = noting('removal', eventStore.remove('api-1', 0))
    await turn()
    const gone = noting('absence', eventStore.readStream('api-1'))
    await turn()
    expect(settled).not.toContain('absence')
    await syncNow()
    await syncNow()
    expect(await gone).toEqual([])
    await removed
    expect(await eventStore.readStream('api-1'), 'is durable by now').toEqual([])
    await eventStore.close()
  })

  it('reports the position to a subscription, at a limited rate, while all new events are outside of it', async () => {
    const eventStore = sqliteEventStore({ path })
    const controller = new AbortController()
    const positions: string[] = []
    const options = { after: START, streamPrefixes: ['api-'], signal: controller.signal }
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const following = (async () => {
      for await (const item of eventStore.subscribe(options))
        positions.push(item.kind === 'event' ? '' : item.position)
    })()
    for (let number = 0; number < 100; number++) {
      await eventStore.append('user-1', [counted(number)], number - 1)
    }
    expect(positions).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(100)
    await new Promise(setImmediate)
    expect(positions.slice(1)).toEqual([await eventStore.head()])
    controller.abort()
    await following
    await eventStore.close()
  })

  it('completes appends in progress on close, and is unavailable afterwards', async () => {
    const eventStore = sqliteEventStore({ path })
    const subscription = eventStore
      .subscribe({ after: START, signal: new AbortController().signal })
      [Symbol.asyncIterator]()
    expect(await subscription.next()).toMatchObject({ value: { kind: 'caughtUp', position: START } })
    const waiting = subscription.next()
    const appends = [0, 1, 2].map(number => eventStore.append(`api-${number}`, [counted(number)], NO_STREAM))
    await eventStore.close()
    await eventStore.close()

    expect((await Promise.all(appends)).map(({ revision }) => revision)).toEqual([0, 0, 0])
    expect(await waiting).toEqual({ value: undefined, done: true })
    for (const call of [
      eventStore.append('api-1', [counted(1)], 0),
      eventStore.readStream('api-1'),
      eventStore.head(),
      everything(eventStore),
    ]) {
      await expect(call).rejects.toBeInstanceOf(EventStoreUnavailable)
    }
    const reopened = sqliteEventStore({ path })
    expect(await everything(reopened)).toHaveLength(3)
    await reopened.close()
  })

  it('is shared by several processes, whose events have one order', async () => {
    const eventStore = sqliteEventStore({ path })
    const controller = new AbortController()
    const followed: RecordedEvent[] = []
    const following = (async () => {
      for await (const item of eventStore.subscribe({ after: START, signal: controller.signal })) {
        if (item.kind === 'event') followed.push(item.event)
      }
    })()
    const writers = ['left', 'right'].map(category => child('append-forever.ts', path, category, '50'))
    for (let number = 0; number < 50; number++) {
      await eventStore.append('here-1', [counted(number)], number - 1)
    }
    await Promise.all(writers.map(writer => writer.ended))
    await eventually(() => expect(followed).toHaveLength(2 * 8 * 50 + 50))
    controller.abort()
    await following

    expect(followed.map(event => Number(event.position))).toEqual(followed.map((_, index) => index + 1))
    for (const [stream, events] of Map.groupBy(followed, event => event.stream)) {
      expect(
        events.map(event => event.revision),
        stream,
      ).toEqual(events.map((_, index) => index))
    }
    await eventStore.close()
  })
})

const eventually = (expectation: () => void) => vi.waitFor(expectation, { interval: 5 })

const counted = (number: number): NewEvent => ({
  id: randomUUID(),
  type: 'Counted',
  data: { number },
  metadata: { actor: { id: null, name: 'test' }, requestId: 'r1', at: '2026-11-21T10:00:00.000Z' },
})

const everything = async (eventStore: EventStore) => {
  const events: RecordedEvent[] = []
  for await (const event of eventStore.readAll({ after: START })) events.push(event)
  return events
}
