import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest'
import { type NewEvent, type Position, type RecordedEvent, START } from '../log/event.ts'
import {
  AppendTooLarge,
  type EventStore,
  MAX_APPEND_BYTES,
  NO_STREAM,
  type ReadAllOptions,
  type SubscriptionItem,
  WrongExpectedRevision,
} from '../log/event-store.ts'

/** A store whose log can contain other events, before and during the test. */
export interface OpenedEventStore {
  eventStore: EventStore
  /** Opens another connection to the same log. */
  reopen?: () => Promise<EventStore>
  /** Appends an event whose data are this text to a new stream, as another application does. Absent when data are always JSON. */
  appendText?: (stream: string, data: string) => Promise<void>
  /** Erases events that `remove` only hides. Absent when the store erases at once, or has no such operation. */
  scavenge?: () => Promise<void>
  close(): Promise<void>
}

/** Tests every guarantee of the EventStore port. Each test uses unique streams, so a shared server can be used. */
export function eventStoreContract(name: string, open: () => Promise<OpenedEventStore>): void {
  describe(`${name} as an event store`, () => {
    let opened: OpenedEventStore
    let eventStore: EventStore
    let others: EventStore[]
    /** Two categories that no other test uses. */
    let orders: string
    let refunds: string

    beforeEach(async () => {
      opened = await open()
      eventStore = opened.eventStore
      others = []
      const test = randomUUID().replaceAll('-', '').slice(0, 12)
      orders = `orders${test}`
      refunds = `refunds${test}`
    })
    afterEach(async () => {
      for (const other of others) await other.close()
      await opened.close()
    })

    /** Another connection to the log; skips the test when the store only has one. */
    const another = async (context: TestContext): Promise<EventStore> => {
      if (!opened.reopen) context.skip('the store has one connection')
      const other = (await opened.reopen?.()) as EventStore
      others.push(other)
      return other
    }

    const collect = async (options: { after: Position; streamPrefixes?: string[] }) => {
      const events: RecordedEvent[] = []
      for await (const event of eventStore.readAll(options)) events.push(event)
      return events
    }

    const expectRefused = async (
      stream: string,
      events: NewEvent[],
      { expected, actual }: { expected: number; actual: number },
    ) => {
      const error = await eventStore.append(stream, events, expected).catch(thrown => thrown)
      expect(error).toBeInstanceOf(WrongExpectedRevision)
      expect(error).toMatchObject({ name: 'WrongExpectedRevision', stream, expected, actual })
    }

    describe('append', () => {
      it('stores an event as it was given, with its revision, position and time', async () => {
        const before = Date.now()
        const event: NewEvent = {
          id: randomUUID(),
          type: 'OrderPlaced',
          data: {
            customer: 'Zoë 🙂',
            lines: [{ sku: 'a-1', count: 2 }, {}],
            total: 12.5,
            paid: false,
            note: null,
            gift: undefined,
          },
          metadata: {
            actor: { id: 'u1', name: 'alice', tokenId: 't1' },
            requestId: 'r1',
            at: '2026-11-21T10:00:00.000Z',
            traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
            causationId: 'c1',
            change: {
              action: 'DELIVERY_CANCELLED',
              resourceType: 'DELIVERY',
              resourceId: '1',
              before: null,
              after: { webhook: 'w1', eventId: 'e1', eventType: 'TEST', status: 'CANCELLED' },
            },
          },
        }

        const appended = await eventStore.append(`${orders}-1`, [event], NO_STREAM)
        const [recorded, ...others] = await eventStore.readStream(`${orders}-1`)

        expect(appended).toEqual({ revision: 0, position: expect.any(String) })
        expect(others).toEqual([])
        expect(recorded).toStrictEqual({
          id: event.id,
          type: 'OrderPlaced',
          stream: `${orders}-1`,
          revision: 0,
          position: appended.position,
          data: {
            customer: 'Zoë 🙂',
            lines: [{ sku: 'a-1', count: 2 }, {}],
            total: 12.5,
            paid: false,
            note: null,
          },
          metadata: event.metadata,
          recordedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,}Z$/),
        })
        // The clock of the store may be that of another machine.
        expect(Math.abs(Date.parse(recorded?.recordedAt ?? '') - before)).toBeLessThan(60_000)
      })

      it('stores several events in order and returns the position of the last', async () => {
        const events = [placed(1), placed(2), placed(3)]
        const first = await eventStore.append(`${orders}-1`, events, NO_STREAM)
        const second = await eventStore.append(`${orders}-1`, [placed(4), placed(5)], 2)
        const recorded = await eventStore.readStream(`${orders}-1`)

        expect(recorded.map(event => event.revision)).toEqual([0, 1, 2, 3, 4])
        expect(recorded.map(event => event.data)).toEqual([1, 2, 3, 4, 5].map(number => ({ number })))
        expect(recorded.slice(0, 3).map(event => event.id)).toEqual(events.map(event => event.id))
        expect(first).toEqual({ revision: 2, position: recorded[2]?.position })
        expect(second).toEqual({ revision: 4, position: recorded[4]?.position })
        expectAscending(recorded)
      })

      it.each([
        ['an existing stream that was expected not to exist', 2, NO_STREAM, 1],
        ['a stream with later events', 2, 0, 1],
        ['a stream with fewer events', 2, 2, 1],
        ['a stream that does not exist', 0, 0, -1],
      ])('refuses %s and stores nothing', async (_, existing, expected, actual) => {
        const stream = `${orders}-1`
        const before = Array.from({ length: existing }, (_, number) => placed(number))
        if (existing > 0) await eventStore.append(stream, before, NO_STREAM)
        await expectRefused(stream, [placed(8), placed(9)], { expected, actual })
        expect(await eventStore.readStream(stream)).toHaveLength(existing)
      })

      it('lets exactly one of ten concurrent writers create a stream', async () => {
        const stream = `${orders}-1`
        const tries = await Promise.allSettled(
          Array.from({ length: 10 }, (_, number) => eventStore.append(stream, [placed(number)], NO_STREAM)),
        )
        const refusals = tries.filter(tried => tried.status === 'rejected').map(tried => tried.reason)

        expect(refusals).toHaveLength(9)
        for (const refusal of refusals) {
          expect(refusal).toBeInstanceOf(WrongExpectedRevision)
          expect(refusal).toMatchObject({ stream, expected: NO_STREAM, actual: 0 })
        }
        expect(await eventStore.readStream(stream)).toHaveLength(1)
      })

      it('answers a repeated append like the first, also a concurrent one, or when the stream has later events', async () => {
        const stream = `${orders}-1`
        const events = [placed(1), placed(2)]
        const first = await eventStore.append(stream, events, NO_STREAM)
        expect(await eventStore.append(stream, events, NO_STREAM)).toEqual(first)

        const third = placed(3)
        const next = await eventStore.append(stream, [third], 1)
        await eventStore.append(stream, [placed(4)], 2)
        expect(await eventStore.append(stream, events, NO_STREAM)).toEqual(first)
        expect(await eventStore.append(stream, [third], 1)).toEqual(next)
        expect(await eventStore.readStream(stream)).toHaveLength(4)

        const [fourth, repeated] = await Promise.all(
          [1, 2].map(() => eventStore.append(`${orders}-2`, events, NO_STREAM)),
        )
        expect(repeated).toEqual(fourth)
        expect(await eventStore.readStream(`${orders}-2`)).toHaveLength(2)
      })

      it('refuses an append that starts like a repetition and ends with a new event', async () => {
        const stream = `${orders}-1`
        const [first, second] = [placed(1), placed(2)]
        await eventStore.append(stream, [first, second], NO_STREAM)

        for (const events of [
          [first, second, placed(3)],
          [first, placed(3)],
        ]) {
          await expectRefused(stream, events, { expected: NO_STREAM, actual: 1 })
        }
        expect(await eventStore.readStream(stream)).toHaveLength(2)
      })

      it('stores an event id again at a later revision and in another stream', async () => {
        const event = placed(1)
        await eventStore.append(`${orders}-1`, [event], NO_STREAM)
        expect(await eventStore.append(`${orders}-1`, [event], 0)).toMatchObject({ revision: 1 })
        expect(await eventStore.append(`${orders}-2`, [event], NO_STREAM)).toMatchObject({ revision: 0 })

        const ids = (await eventStore.readStream(`${orders}-1`)).map(recorded => recorded.id)
        expect(ids).toEqual([event.id, event.id])
        expect(await eventStore.readStream(`${orders}-2`)).toHaveLength(1)
      })

      it('accepts 1,000 events and refuses 1,001 or none', async () => {
        await expect(eventStore.append(`${orders}-1`, [], NO_STREAM)).rejects.toThrow()
        const events = Array.from({ length: 1_001 }, (_, number) => placed(number))
        await expect(eventStore.append(`${orders}-1`, events, NO_STREAM)).rejects.toBeInstanceOf(
          AppendTooLarge,
        )
        expect(await eventStore.readStream(`${orders}-1`)).toEqual([])

        const appended = await eventStore.append(`${orders}-1`, events.slice(0, 1_000), NO_STREAM)
        expect(appended.revision).toBe(999)
        expect(await eventStore.readStream(`${orders}-1`)).toHaveLength(1_000)
      })

      it('accepts almost 1 MiB and refuses more, in any number of events', async () => {
        const large = (bytes: number): NewEvent => ({ ...placed(1), data: { text: 'é'.repeat(bytes / 2) } })
        const half = MAX_APPEND_BYTES / 2

        for (const events of [[large(MAX_APPEND_BYTES)], [large(half), large(half)]]) {
          await expect(eventStore.append(`${orders}-1`, events, NO_STREAM)).rejects.toBeInstanceOf(
            AppendTooLarge,
          )
        }
        expect(await eventStore.readStream(`${orders}-1`)).toEqual([])

        const event = large(MAX_APPEND_BYTES - 10_000)
        await eventStore.append(`${orders}-1`, [event], NO_STREAM)
        expect((await eventStore.readStream(`${orders}-1`))[0]?.data).toEqual(event.data)
      })
    })

    describe('readStream', () => {
      it('returns the events from a revision on', async () => {
        const stream = `${orders}-1`
        await eventStore.append(stream, [placed(0), placed(1), placed(2)], NO_STREAM)
        const from = async (revision: number) =>
          (await eventStore.readStream(stream, revision)).map(event => event.revision)

        expect(await from(0)).toEqual([0, 1, 2])
        expect(await from(1)).toEqual([1, 2])
        expect(await from(2)).toEqual([2])
        expect(await from(3)).toEqual([])
        expect(await from(100)).toEqual([])
      })

      it('returns nothing for a missing stream whose name is a prefix of another, like readLast', async () => {
        await eventStore.append(`${orders}-12`, [placed(1)], NO_STREAM)
        expect(await eventStore.readStream(`${orders}-1`)).toEqual([])
        expect(await eventStore.readLast(`${orders}-1`)).toBeUndefined()
      })

      it('accepts stream ids with punctuation, spaces and letters outside of ASCII', async () => {
        const ids = ['a/b', 'with space', '100%', 'été', 'sha256:0a', "o'hara", 'b-c-d']
        const streams = ids.map(id => `${orders}-${id}`)
        for (const stream of streams) {
          await eventStore.append(stream, [placed(1)], NO_STREAM)
          expect((await eventStore.readStream(stream)).map(event => event.stream)).toEqual([stream])
        }
        const all = await collect({ after: START, streamPrefixes: [`${orders}-`] })
        expect(all.map(({ stream }) => stream)).toEqual(streams)
      })
    })

    describe('readLast', () => {
      it('returns the last event like readStream, also after another append', async () => {
        const stream = `${orders}-1`
        await eventStore.append(stream, [placed(0), placed(1)], NO_STREAM)
        expect(await eventStore.readLast(stream)).toStrictEqual((await eventStore.readStream(stream))[1])
        await eventStore.append(stream, [placed(2)], 1)
        expect(await eventStore.readLast(stream)).toStrictEqual((await eventStore.readStream(stream))[2])
      })

      it('returns nothing for a removed stream, and its last event once it has new ones', async () => {
        const stream = `${orders}-1`
        await eventStore.append(stream, [placed(1), placed(2)], NO_STREAM)
        await eventStore.remove(stream, 1)
        expect(await eventStore.readLast(stream)).toBeUndefined()
        await eventStore.append(stream, [placed(3)], NO_STREAM)
        expect(await eventStore.readLast(stream)).toMatchObject({ stream, data: { number: 3 } })
      })
    })

    describe('an event that is none of a service', () => {
      const actor = { id: null, name: 'story' }
      const at = '2026-11-21T10:00:00.000Z'
      const change = {
        action: 'API_DELETED',
        resourceType: 'API',
        resourceId: '1',
        before: null,
        after: null,
      }
      const given = (data: unknown, metadata: unknown) =>
        ({ id: randomUUID(), type: 'Foreign', data, metadata }) as NewEvent
      const cases: [string, unknown, unknown][] = [
        ['its data are no JSON object', 'text', { actor, requestId: 'r', at }],
        ['its data are no JSON object', [1], { actor, requestId: 'r', at }],
        ['its metadata name no actor', {}, {}],
        ['its metadata name no actor', {}, { actor: 'ada', requestId: 'r', at }],
        ['its metadata have no requestId', {}, { actor, at }],
        ['its metadata have no time', {}, { actor, requestId: 'r', at: 'now' }],
        ['its metadata have a malformed change', {}, { actor, requestId: 'r', at, change: 'all' }],
        [
          'its metadata have a malformed change',
          {},
          { actor, requestId: 'r', at, change: { ...change, after: 1 } },
        ],
        [
          'its metadata have a malformed schemaVersion',
          {},
          { actor, requestId: 'r', at, schemaVersion: 'a' },
        ],
      ]

      it.each(cases)('is read as malformed, and hides no other event: %s', async (reason, data, metadata) => {
        const stream = `${orders}-1`
        const usable = given({}, { actor, requestId: 'r', at, change })
        await eventStore.append(stream, [given(data, metadata)], NO_STREAM)
        await eventStore.append(stream, [usable], 0)
        const read = await eventStore.readStream(stream)
        expect(read).toMatchObject([
          { stream, revision: 0, type: 'Foreign', data: {}, malformed: reason },
          { revision: 1, id: usable.id },
        ])
        expect(read[0]?.metadata.actor).toEqual({ id: null, name: 'unknown' })
        expect(read[1]).not.toHaveProperty('malformed')
        expect(await collect({ after: START, streamPrefixes: [`${orders}-`] })).toEqual(read)
      })

      it('may be no JSON', async context => {
        if (!opened.appendText) context.skip('the store has JSON only')
        const stream = `${orders}-1`
        await opened.appendText?.(stream, '{"half":')
        expect(await eventStore.readStream(stream)).toMatchObject([
          { stream, revision: 0, malformed: 'its data are no JSON object' },
        ])
        expect(await collect({ after: START, streamPrefixes: [`${orders}-`] })).toHaveLength(1)
      })
    })

    describe('readAll', () => {
      it('returns the complete events of all streams in the order they were written', async () => {
        const after = await eventStore.head()
        await eventStore.append(`${orders}-1`, [placed(1)], NO_STREAM)
        await eventStore.append(`${refunds}-1`, [placed(2), placed(3)], NO_STREAM)
        await eventStore.append(`${orders}-1`, [placed(4)], 0)
        const read = (await collect({ after })).filter(isOurs)
        const ofStreams = [
          ...(await eventStore.readStream(`${orders}-1`)),
          ...(await eventStore.readStream(`${refunds}-1`)),
        ]

        expect(read.map(event => event.data.number)).toEqual([1, 2, 3, 4])
        expect(read).toStrictEqual(ofStreams.sort((a, b) => (a.position < b.position ? -1 : 1)))
        expectAscending(read)
      })

      it('starts after a position, exclusively', async () => {
        const { position } = await eventStore.append(`${orders}-1`, [placed(1), placed(2)], NO_STREAM)
        await eventStore.append(`${orders}-1`, [placed(3)], 1)
        const prefixes = { streamPrefixes: [`${orders}-`] }

        expect(numbers(await collect({ after: START, ...prefixes }))).toEqual([1, 2, 3])
        expect(numbers(await collect({ after: position, ...prefixes }))).toEqual([3])
        expect(await collect({ after: await eventStore.head(), ...prefixes })).toEqual([])
      })

      it('returns only events of streams with one of the prefixes, each once', async () => {
        await eventStore.append(`${orders}-1`, [placed(1)], NO_STREAM)
        await eventStore.append(`${refunds}-1`, [placed(2)], NO_STREAM)
        await eventStore.append(`${orders}x-1`, [placed(3)], NO_STREAM)
        await eventStore.append(`${orders}-22`, [placed(4)], NO_STREAM)
        await eventStore.append(orders, [placed(5)], NO_STREAM)
        const under = async (...streamPrefixes: string[]) =>
          numbers(await collect({ after: START, streamPrefixes }))

        expect(await under(`${orders}-`)).toEqual([1, 4])
        expect(await under(`${orders}-`, `${refunds}-`)).toEqual([1, 2, 4])
        expect(await under(`${orders}-2`, `${refunds}-`)).toEqual([2, 4])
        expect(await under(`${orders}-2`, `${orders}-`, `${orders}-`)).toEqual([1, 4])
        expect(await under(orders)).toEqual([1, 3, 4, 5])
        expect(await under(`${refunds}-9`)).toEqual([])
      })

      it('returns many events, and ends with the last one at the time of the call', async () => {
        for (let batch = 0; batch < 3; batch++) {
          const events = Array.from({ length: 400 }, (_, index) => placed(batch * 400 + index))
          await eventStore.append(`${orders}-${batch}`, events, NO_STREAM)
        }
        const seen: RecordedEvent[] = []
        for await (const event of eventStore.readAll({ after: START, streamPrefixes: [`${orders}-`] })) {
          seen.push(event)
          if (seen.length % 500 === 0) {
            await eventStore.append(`${orders}-late${seen.length}`, [placed(-1)], NO_STREAM)
          }
        }

        expect(numbers(seen)).toEqual(Array.from({ length: 1_200 }, (_, number) => number))
        expectAscending(seen)
      })

      it('can be left early', async () => {
        await eventStore.append(`${orders}-1`, [placed(1), placed(2)], NO_STREAM)
        for await (const event of eventStore.readAll({ after: START, streamPrefixes: [`${orders}-`] })) {
          expect(event.data).toEqual({ number: 1 })
          break
        }
        expect(await eventStore.append(`${orders}-1`, [placed(3)], 1)).toMatchObject({ revision: 2 })
      })
    })

    describe('remove', () => {
      it('removes a stream, and does nothing for a missing one', async () => {
        const stream = `${orders}-1`
        await eventStore.append(stream, [placed(1), placed(2)], NO_STREAM)
        await eventStore.append(`${orders}-12`, [placed(3)], NO_STREAM)

        await eventStore.remove(stream, 1)
        await eventStore.remove(stream, 1)
        await eventStore.remove(`${orders}-none`, 4)

        expect(await eventStore.readStream(stream)).toEqual([])
        expect(numbers(await eventStore.readStream(`${orders}-12`))).toEqual([3])
      })

      it('does not remove a stream with later events', async () => {
        const stream = `${orders}-1`
        await eventStore.append(stream, [placed(1), placed(2)], NO_STREAM)

        const error = await eventStore.remove(stream, 0).catch(thrown => thrown)

        expect(error).toBeInstanceOf(WrongExpectedRevision)
        expect(error).toMatchObject({ stream, expected: 0, actual: 1 })
        expect(numbers(await eventStore.readStream(stream))).toEqual([1, 2])
      })

      it('does not change the head or the positions of other events, and reuses no position', async () => {
        const { position: before } = await eventStore.append(`${orders}-1`, [placed(1)], NO_STREAM)
        const { position: removed } = await eventStore.append(
          `${refunds}-1`,
          [placed(2), placed(3)],
          NO_STREAM,
        )
        await eventStore.remove(`${refunds}-1`, 1)
        expect((await eventStore.head()) >= removed).toBe(true)
        expect((await eventStore.readStream(`${orders}-1`))[0]?.position).toBe(before)

        const { position: after } = await eventStore.append(`${orders}-1`, [placed(4)], 0)
        expect(after > removed).toBe(true)
        expect(numbers(await collect({ after: removed, streamPrefixes: [`${orders}-`] }))).toEqual([4])
      })

      it('allows a new stream of the same name', async () => {
        const stream = `${orders}-1`
        await eventStore.append(stream, [placed(1), placed(2)], NO_STREAM)
        await eventStore.remove(stream, 1)

        const { revision } = await eventStore.append(stream, [placed(3)], NO_STREAM)
        const begun = await eventStore.readStream(stream)
        expect(numbers(begun)).toEqual([3])
        expect(begun[0]?.revision).toBe(revision)
        expect(await eventStore.append(stream, [placed(4)], revision)).toMatchObject({
          revision: revision + 1,
        })
      })

      it('returns the actual revision of the first append to a removed stream, also for its repetition', async () => {
        const stream = `${orders}-1`
        await eventStore.append(stream, [placed(1), placed(2)], NO_STREAM)
        await eventStore.remove(stream, 1)
        await opened.scavenge?.()
        const before = await eventStore.head()

        const events = [placed(3), placed(4)]
        const answer = await eventStore.append(stream, events, NO_STREAM)
        const { revision } = answer
        const begun = await eventStore.readStream(stream)
        expect(begun.map(event => [event.id, event.revision])).toEqual([
          [events[0]?.id, revision - 1],
          [events[1]?.id, revision],
        ])
        expect(answer).toEqual({ revision, position: begun[1]?.position })
        expect(await collect({ after: before, streamPrefixes: [stream] })).toStrictEqual(begun)
        expect(await eventStore.readStream(stream, revision)).toStrictEqual(begun.slice(1))

        expect(await eventStore.append(stream, events, NO_STREAM)).toEqual(answer)
        await eventStore.append(stream, [placed(5)], revision)
        expect(await eventStore.append(stream, events, NO_STREAM)).toEqual(answer)
        for (const others of [[placed(3)], [...events, placed(5), placed(6)]]) {
          await expectRefused(stream, others, { expected: NO_STREAM, actual: revision + 1 })
        }
        expect(numbers(await eventStore.readStream(stream))).toEqual([3, 4, 5])
      })

      it('does not interrupt subscriptions, also from a position of a removed event', async () => {
        const { position: inside } = await eventStore.append(`${orders}-1`, [placed(1)], NO_STREAM)
        const { position: end } = await eventStore.append(`${orders}-1`, [placed(2)], 0)
        const options = { streamPrefixes: [`${orders}-`] }
        const live = new Subscription(eventStore, { after: START, ...options })
        await live.caughtUp(end)
        await eventStore.remove(`${orders}-1`, 1)
        const resumed = new Subscription(eventStore, { after: inside, ...options })

        const { position } = await eventStore.append(`${orders}-2`, [placed(3)], NO_STREAM)
        await live.caughtUp(position)
        await resumed.caughtUp(position)

        expect(live.numbers()).toEqual([1, 2, 3])
        expect(resumed.numbers().at(-1)).toBe(3)
        await Promise.all([live.stop(), resumed.stop()])
      })

      it('is visible to another connection', async context => {
        const other = await another(context)
        const { position } = await eventStore.append(`${orders}-1`, [placed(1)], NO_STREAM)
        await eventStore.remove(`${orders}-1`, 0)

        expect(await other.readStream(`${orders}-1`)).toEqual([])
        expect((await other.head()) >= position).toBe(true)
        expect((await other.append(`${orders}-2`, [placed(2)], NO_STREAM)).position > position).toBe(true)
      })
    })

    describe('snapshots', () => {
      const saved = async (stream: string, state: string) => {
        const last = (await eventStore.readStream(stream)).at(-1)
        if (!last) throw new Error(`${stream} has no events`)
        const { revision, position } = last
        const snapshot = { schemaVersion: 3, revision, position, state }
        await eventStore.saveSnapshot(stream, snapshot)
        return snapshot
      }

      it('returns the last saved snapshot, unchanged', async () => {
        const stream = `${orders}-1`
        await eventStore.append(stream, [placed(1), placed(2)], NO_STREAM)
        expect(await eventStore.readSnapshot(stream)).toBeUndefined()

        const first = await saved(stream, '{"name":"Zoë 🙂","lines":[]}')
        expect(await eventStore.readSnapshot(stream)).toStrictEqual(first)
        await eventStore.append(stream, [placed(3)], 1)
        const second = await saved(stream, '{}')
        await saved(stream, '{}')
        expect(await eventStore.readSnapshot(stream)).toStrictEqual(second)
      })

      it('keeps one for each stream, and none for a stream whose name is a prefix', async () => {
        await eventStore.append(`${orders}-1`, [placed(1)], NO_STREAM)
        await eventStore.append(`${orders}-2`, [placed(1)], NO_STREAM)
        const one = await saved(`${orders}-1`, '1')
        const other = await saved(`${orders}-2`, '2')
        expect(await eventStore.readSnapshot(`${orders}-1`)).toStrictEqual(one)
        expect(await eventStore.readSnapshot(`${orders}-2`)).toStrictEqual(other)
        expect(await eventStore.readSnapshot(`${orders}-`)).toBeUndefined()
      })

      it('accepts 512 KiB', async () => {
        const stream = `${orders}-1`
        await eventStore.append(stream, [placed(1)], NO_STREAM)
        const snapshot = await saved(stream, randomBytes(393_216).toString('base64'))
        expect(await eventStore.readSnapshot(stream)).toStrictEqual(snapshot)
      })

      it('does not deliver them as events, and a reader of the whole log reaches the head after them', async () => {
        const stream = `${orders}-1`
        const before = await eventStore.head()
        const all = new Subscription(eventStore, { after: before })
        await eventStore.append(stream, [placed(1)], NO_STREAM)
        await saved(stream, '{}')
        await all.caughtUp(await eventStore.head())
        await eventStore.append(stream, [placed(2)], 0)
        await saved(stream, '{}')
        await all.caughtUp(await eventStore.head())

        const ofTest = ({ stream }: RecordedEvent) => stream.includes(orders.slice('orders'.length))
        for (const told of [all.events(), await collect({ after: before })]) {
          expect(told.filter(ofTest).map(({ stream, data }) => [stream, data.number])).toEqual([
            [stream, 1],
            [stream, 2],
          ])
        }
        await all.stop()
      })

      it('are removed with their stream, and a new stream of the same name has none', async () => {
        const stream = `${orders}-1`
        await eventStore.append(stream, [placed(1)], NO_STREAM)
        await saved(stream, '"old"')
        await eventStore.remove(stream, 0)
        await opened.scavenge?.()
        expect(await eventStore.readSnapshot(stream)).toBeUndefined()

        await eventStore.append(stream, [placed(2)], NO_STREAM)
        expect(await eventStore.readSnapshot(stream)).toBeUndefined()
        const anew = await saved(stream, '"new"')
        expect(await eventStore.readSnapshot(stream)).toStrictEqual(anew)
        await opened.scavenge?.()
        expect(await eventStore.readSnapshot(stream)).toStrictEqual(anew)
      })

      it('are visible to another connection', async context => {
        await eventStore.append(`${orders}-1`, [placed(1)], NO_STREAM)
        const other = await another(context)
        const snapshot = await saved(`${orders}-1`, '{}')
        expect(await other.readSnapshot(`${orders}-1`)).toStrictEqual(snapshot)
      })
    })

    describe('head', () => {
      it('is at least the position of the last event, and every position comes after the start', async () => {
        const before = await eventStore.head()
        const { position } = await eventStore.append(`${orders}-1`, [placed(1)], NO_STREAM)
        const head = await eventStore.head()

        expect(position > before).toBe(true)
        expect(position > START).toBe(true)
        expect(head >= position).toBe(true)
      })
    })

    describe('subscribe', () => {
      const subscriptions: Subscription[] = []
      const subscribe = (after: Position, filter: Filter = { streamPrefixes: [`${orders}-`] }) => {
        const subscription = new Subscription(eventStore, { after, ...filter })
        subscriptions.push(subscription)
        return subscription
      }
      afterEach(async () => {
        await Promise.all(subscriptions.splice(0).map(subscription => subscription.stop()))
      })

      it('delivers existing events, then caughtUp, then new events', async () => {
        const before = await eventStore.append(`${orders}-1`, [placed(1), placed(2)], NO_STREAM)
        const subscription = subscribe(START)
        const caughtUp = await subscription.caughtUp(before.position)
        expect(subscription.items.slice(0, caughtUp).filter(item => item.kind === 'event')).toHaveLength(2)

        const after = await eventStore.append(`${orders}-2`, [placed(3)], NO_STREAM)
        await subscription.caughtUp(after.position)

        expect(subscription.numbers()).toEqual([1, 2, 3])
        expect(subscription.events()).toStrictEqual([
          ...(await eventStore.readStream(`${orders}-1`)),
          ...(await eventStore.readStream(`${orders}-2`)),
        ])
      })

      it('reports caughtUp without events of its own, so that a restart does not read there again', async () => {
        const { position } = await eventStore.append(`${refunds}-1`, [placed(1)], NO_STREAM)
        const subscription = subscribe(START)
        await subscription.caughtUp(position)
        expect(subscription.events()).toEqual([])
        const told = subscription.items.find(item => item.kind === 'caughtUp')
        expect((told?.position ?? START) >= position).toBe(true)
      })

      it('reports its position while only other streams are written, so that readers can wait for it', async () => {
        const before = await eventStore.append(`${orders}-1`, [placed(1)], NO_STREAM)
        const subscription = subscribe(START)
        await subscription.caughtUp(before.position)

        const others = await eventStore.append(`${refunds}-1`, [placed(2)], NO_STREAM)
        await subscription.caughtUp(others.position)
        expect(subscription.numbers()).toEqual([1])
      })

      it('never goes back: an event comes after every position reported before it', async () => {
        const start = await eventStore.head()
        const subscription = subscribe(start, {})
        for (let number = 0; number < 20; number++) {
          await eventStore.append(
            `${number % 2 ? orders : refunds}-1`,
            [placed(number)],
            Math.floor(number / 2) - 1,
          )
        }
        await subscription.caughtUp(await lastPosition())

        expect(subscription.events().filter(isOurs)).toHaveLength(20)
        let place = start
        for (const item of subscription.items) {
          if (item.kind === 'event') expect(item.event.position > place).toBe(true)
          const next = item.kind === 'event' ? item.event.position : item.position
          expect(next >= place).toBe(true)
          place = next
        }
      })

      it('delivers all events of many writers in the order of the log, to each of several subscriptions', async () => {
        const [subscription, another] = [subscribe(START), subscribe(START)]
        await Promise.all(
          Array.from({ length: 8 }, async (_, writer) => {
            for (let number = 0; number < 10; number++) {
              await eventStore.append(`${orders}-${writer}`, [placed(number)], number - 1)
            }
          }),
        )
        await subscription.caughtUp(await lastPosition())

        expect(subscription.events()).toStrictEqual(
          await collect({ after: START, streamPrefixes: [`${orders}-`] }),
        )
        expect(subscription.events()).toHaveLength(80)
        await another.caughtUp(await lastPosition())
        expect(another.events()).toStrictEqual(subscription.events())
      })

      it('resumes from every position, also after a scavenge', async () => {
        const start = await eventStore.head()
        const kept: { number: number; position: Position }[] = []
        const places: Position[] = []
        for (let number = 0; number < 4; number++) {
          const { position } = await eventStore.append(`${orders}-${number}`, [placed(number)], NO_STREAM)
          places.push(position)
          if (number % 2 === 0) kept.push({ number, position })
          const events = [placed(-1), placed(-1)]
          places.push((await eventStore.append(`${refunds}-${number}`, events, NO_STREAM)).position)
        }
        for (const filter of [{}, { streamPrefixes: [`${orders}-`] }]) {
          const whole = subscribe(start, filter)
          await whole.caughtUp(await lastPosition())
          const told = whole.items.filter(item => item.kind !== 'event' || isOurs(item.event))
          places.push(...told.map(item => (item.kind === 'event' ? item.event.position : item.position)))
        }
        for (let number = 0; number < 4; number++) {
          if (number % 2 !== 0) await eventStore.remove(`${orders}-${number}`, 0)
          await eventStore.remove(`${refunds}-${number}`, 1)
        }
        await opened.scavenge?.()
        const { position: end } = await eventStore.append(`${orders}-4`, [placed(4)], NO_STREAM)
        kept.push({ number: 4, position: end })

        const isKept = ({ stream, data }: RecordedEvent) =>
          stream.startsWith(`${orders}-`) && kept.some(({ number }) => number === data.number)
        for (const place of new Set(places)) {
          const wanted = kept.filter(({ position }) => position > place).map(({ number }) => number)
          for (const filter of [{ streamPrefixes: [`${orders}-`] }, {}]) {
            const resumed = subscribe(place, filter)
            await resumed.caughtUp(end)
            expect(numbers(resumed.events().filter(isKept)), place).toEqual(wanted)
            await resumed.stop()
          }
          const read = await collect({ after: place, streamPrefixes: [`${orders}-`] })
          expect(numbers(read.filter(isKept)), place).toEqual(wanted)
        }
      })

      it('delivers many existing events while new ones are appended', async () => {
        await eventStore.append(
          `${orders}-1`,
          Array.from({ length: 600 }, (_, n) => placed(n)),
          NO_STREAM,
        )
        const subscription = subscribe(START)
        for (let number = 600; number < 620; number++) {
          await eventStore.append(`${orders}-1`, [placed(number)], number - 1)
        }
        await subscription.caughtUp(await lastPosition())
        expect(subscription.numbers()).toEqual(Array.from({ length: 620 }, (_, number) => number))
      })

      it('ends without an error when it is aborted before the start, while delivering or while waiting, or left', async () => {
        await eventStore.append(`${orders}-1`, [placed(1), placed(2)], NO_STREAM)
        const options = { after: START, streamPrefixes: [`${orders}-`] }

        for await (const item of eventStore.subscribe({ ...options, signal: AbortSignal.abort() })) {
          expect.unreachable(`got ${item.kind}`)
        }

        const controller = new AbortController()
        const given: string[] = []
        for await (const item of eventStore.subscribe({ ...options, signal: controller.signal })) {
          // Checkpoints come from other events in the log.
          if (item.kind === 'checkpoint') continue
          given.push(item.kind)
          controller.abort()
        }
        expect(given).toEqual(['event'])

        const waiting = subscribe(START)
        await waiting.caughtUp(await lastPosition())
        await waiting.stop()

        const { signal } = new AbortController()
        for await (const item of eventStore.subscribe({ ...options, signal }))
          if (item.kind === 'event') break
        expect(await eventStore.append(`${orders}-1`, [placed(3)], 1)).toMatchObject({ revision: 2 })
      })

      const lastPosition = async () =>
        (await collect({ after: START, streamPrefixes: [`${orders}-`, `${refunds}-`] })).at(-1)?.position ??
        START
    })

    describe('another connection', () => {
      it('reads everything that was appended, and can append to it', async context => {
        const appended = await eventStore.append(`${orders}-1`, [placed(1), placed(2)], NO_STREAM)
        const recorded = await eventStore.readStream(`${orders}-1`)

        const other = await another(context)
        expect(await other.readStream(`${orders}-1`)).toStrictEqual(recorded)
        expect((await other.head()) >= appended.position).toBe(true)
        expect(await other.append(`${orders}-1`, [placed(3)], 1)).toMatchObject({ revision: 2 })
        await expect(eventStore.append(`${orders}-1`, [placed(4)], 1)).rejects.toMatchObject({ actual: 2 })
        expect(numbers(await eventStore.readStream(`${orders}-1`))).toEqual([1, 2, 3])
      })

      it('appends events that subscriptions of this connection deliver', async context => {
        const other = await another(context)
        const subscription = new Subscription(eventStore, { after: START, streamPrefixes: [`${orders}-`] })
        await other.append(`${orders}-1`, [placed(1)], NO_STREAM)
        await eventStore.append(`${orders}-1`, [placed(2)], 0)
        const { position } = await other.append(`${orders}-1`, [placed(3)], 1)
        await subscription.caughtUp(position)

        expect(subscription.numbers()).toEqual([1, 2, 3])
        await subscription.stop()
      })
    })

    const isOurs = (event: RecordedEvent) =>
      event.stream.startsWith(`${orders}-`) || event.stream.startsWith(`${refunds}-`)
  })
}

type Filter = Pick<ReadAllOptions, 'streamPrefixes'>

const placed = (number: number): NewEvent => ({
  id: randomUUID(),
  type: 'OrderPlaced',
  data: { number },
  metadata: { actor: { id: null, name: 'contract' }, requestId: 'r1', at: '2026-11-21T10:00:00.000Z' },
})

const numbers = (events: RecordedEvent[]) => events.map(event => event.data.number)

const expectAscending = (events: RecordedEvent[]) => {
  const positions = events.map(event => event.position)
  expect(positions).toEqual([...new Set(positions)].sort())
}

/** A running subscription and all items that it has delivered. */
class Subscription {
  readonly items: SubscriptionItem[] = []
  private readonly controller = new AbortController()
  private readonly running: Promise<void>
  private wake = () => {}

  constructor(eventStore: EventStore, options: ReadAllOptions) {
    const { signal } = this.controller
    this.running = (async () => {
      for await (const item of eventStore.subscribe({ ...options, signal })) {
        this.items.push(item)
        this.wake()
      }
    })()
  }

  /** Waits until the subscription is caught up to a position. @returns the index of that item */
  async caughtUp(position: Position): Promise<number> {
    for (;;) {
      const index = this.items.findIndex(item => item.kind === 'caughtUp' && item.position >= position)
      if (index >= 0) return index
      await Promise.race([
        new Promise<void>(resolve => {
          this.wake = resolve
        }),
        this.running.then(() => Promise.reject(new Error('the subscription has ended'))),
      ])
    }
  }

  events(): RecordedEvent[] {
    return this.items.flatMap(item => (item.kind === 'event' ? [item.event] : []))
  }

  numbers() {
    return numbers(this.events())
  }

  /** Aborts the subscription and waits for its end; throws when it failed. */
  async stop(): Promise<void> {
    this.controller.abort()
    await this.running
  }
}
