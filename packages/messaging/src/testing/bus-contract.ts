import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  type Bus,
  type Json,
  type Message,
  type MissedMessages,
  Overtaken,
  type StoredMessage,
} from '../bus.ts'

/** Connections to one bus, which can carry other messages before and during the test. */
export interface OpenedBus {
  /** Opens another connection, as a replica or a restarted process does. Closing it twice must be harmless. */
  connect(): Promise<Bus>
  /**
   * Opens a connection that removes messages older than `retentionMs`; left out when the bus removes nothing. After the
   * connections were closed, messages are kept again.
   */
  connectRetaining?(retentionMs: number): Promise<Bus>
  /** Cleans up after the connections were closed. */
  close(): Promise<void>
}

/**
 * Tests every guarantee of the Bus port. Each run uses unique subjects and consumers, so a shared server can be used.
 * Published messages are on `events.>`; broadcasts are on `hints.>`.
 */
export function busContract(name: string, open: () => Promise<OpenedBus>): void {
  describe(`${name} as a bus`, () => {
    let opened: OpenedBus
    let bus: Bus
    let connections: Bus[]
    let stop: AbortController
    /** A part of subjects and names that no other test uses. */
    let test: string

    const connect = async () => {
      const connection = await opened.connect()
      connections.push(connection)
      return connection
    }

    beforeEach(async () => {
      opened = await open()
      connections = []
      stop = new AbortController()
      test = `test${randomUUID().replaceAll('-', '').slice(0, 12)}`
      bus = await connect()
    })
    afterEach(async () => {
      stop.abort()
      await Promise.all(connections.map(connection => connection.close()))
      await opened.close()
    })

    const message = (number: number, subject = 'orders.PLACED'): Message => ({
      id: randomUUID(),
      subject: `events.${test}.${subject}`,
      data: { number },
    })
    const numbered = (count: number) => Array.from({ length: count }, (_, index) => message(index + 1))
    const everything = () => [`events.${test}.>`]

    const read = async (from: Bus, subjects: string[], after = 0) => {
      const messages: StoredMessage[] = []
      const options = { subjects, after, live: false, signal: stop.signal }
      for await (const stored of from.read(options)) messages.push(stored)
      return messages
    }

    describe('publish and read', () => {
      it('stores a message as it was given, with its sequence and the time', async () => {
        const before = Date.now()
        const given: Message = {
          id: randomUUID(),
          subject: `events.${test}.orders.PLACED`,
          data: { customer: 'Zoë 🙂', lines: [{ sku: 'a-1' }, {}], total: 12.5, paid: false, note: null },
          headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
        }
        await bus.publish([given])
        const [stored, ...others] = await read(bus, everything())

        expect(others).toEqual([])
        expect(stored).toStrictEqual({
          ...given,
          sequence: expect.any(Number),
          storedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,}Z$/),
        })
        expect(stored?.sequence).toBe(await bus.head())
        // The clock of the bus may be that of another machine.
        expect(Math.abs(Date.parse(stored?.storedAt ?? '') - before)).toBeLessThan(60_000)
      })

      it('accepts any JSON as data, and no headers', async () => {
        const given = ['text', 0, null, [1, [2]]].map(data => ({ ...message(1), data }))
        await bus.publish(given)
        const stored = await read(bus, everything())
        expect(stored.map(({ sequence: _, storedAt: __, ...rest }) => rest)).toStrictEqual(given)
      })

      it('keeps the order, within a call and between calls', async () => {
        const messages = numbered(30)
        await bus.publish(messages.slice(0, 10))
        await bus.publish([])
        await bus.publish(messages.slice(10))
        const stored = await read(bus, everything())

        expect(stored.map(({ id }) => id)).toEqual(messages.map(({ id }) => id))
        const sequences = stored.map(({ sequence }) => sequence)
        expect(sequences[0]).toBeGreaterThan(0)
        expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b))
      })

      it('changes nothing when an id is published again, in any call and over any connection', async () => {
        const [first, second] = [message(1), message(2)]
        await bus.publish([first, { ...first, data: 'within the call' }])
        await bus.publish([{ ...first, data: 'in another call' }, second])
        await (await connect()).publish([{ ...first, data: 'over another connection' }])

        expect(numbers(await read(bus, everything()))).toEqual([1, 2])
      })

      it('returns the sequence of the last message of a call, which is its head, also when it is stored already', async () => {
        const messages = numbered(3)
        const last = await bus.publish(messages)
        expect(last).toBe((await read(bus, everything())).at(-1)?.sequence)
        expect(await bus.head()).toBe(last)
        await bus.publish([message(4)])
        expect(await bus.publish(messages)).toBe(last)
        expect(await bus.publish([])).toBe(0)
      })

      it('reads after a sequence, exclusively', async () => {
        await bus.publish(numbered(5))
        const stored = await read(bus, everything())
        expect(numbers(await read(bus, everything(), stored[1]?.sequence))).toEqual([3, 4, 5])
        expect(await read(bus, everything(), await bus.head())).toEqual([])
      })

      it('reads the messages that match the subjects, each once', async () => {
        await bus.publish([
          message(1, 'orders.PLACED'),
          message(2, 'orders.PAID'),
          message(3, 'refunds.PAID'),
          message(4, 'orders.lines.ADDED'),
          message(5, 'orders'),
        ])
        const under = async (...subjects: string[]) =>
          numbers(
            await read(
              bus,
              subjects.map(subject => `events.${test}.${subject}`),
            ),
          )

        expect(await under('>')).toEqual([1, 2, 3, 4, 5])
        expect(await under('orders.PAID')).toEqual([2])
        expect(await under('orders.*')).toEqual([1, 2])
        expect(await under('orders.>')).toEqual([1, 2, 4])
        expect(await under('*.PAID')).toEqual([2, 3])
        expect(await under('orders.*.ADDED')).toEqual([4])
        expect(await under('orders.PLACED', 'refunds.>')).toEqual([1, 3])
        expect(await under('orders.>', 'orders.PAID', '*.PAID')).toEqual([1, 2, 3, 4])
        expect(await under('invoices.>')).toEqual([])
      })

      it('returns the complete last message on the subjects', async () => {
        const under = (...subjects: string[]) =>
          bus.last(subjects.map(subject => `events.${test}.${subject}`))
        expect(await under('>')).toBeUndefined()
        await bus.publish([
          { ...message(1, 'orders.PLACED'), headers: { position: 'a' } },
          { ...message(2, 'refunds.PAID'), headers: { position: 'b' } },
          message(3, 'orders.lines.ADDED'),
          message(4, 'invoices'),
        ])
        const [first, second, third, fourth] = await read(bus, everything())
        expect(await under('>')).toStrictEqual(fourth)
        expect(await under('orders.*')).toStrictEqual(first)
        expect(await under('orders.>')).toStrictEqual(third)
        expect(await under('orders.PLACED')).toStrictEqual(first)
        expect(await under('*.PAID', 'orders.PLACED')).toStrictEqual(second)
        expect(await under('orders.PLACED', 'refunds.*')).toStrictEqual(second)
        expect(await under('orders.SENT', 'refunds.SENT')).toBeUndefined()

        await bus.publish([message(5, 'orders.PLACED')])
        expect(await under('orders.PLACED', 'refunds.*')).toMatchObject({ data: { number: 5 } })
        expect(await (await connect()).last(everything())).toMatchObject({ data: { number: 5 } })
      })

      describe('with `after`', () => {
        it('stores any number of messages over any connection when no other publisher came before', async () => {
          const messages = Array.from({ length: 700 }, (_, index) =>
            message(index + 1, index % 7 === 0 ? 'refunds.PAID' : 'orders.PLACED'),
          )
          let after = await bus.publish(messages.slice(0, 2), { after: 0 })
          after = await bus.publish(messages.slice(2, 650), { after })
          const restarted = await connect()
          after = (await restarted.last(everything()))?.sequence ?? 0
          expect(await restarted.publish(messages.slice(650), { after })).toBeGreaterThan(after)
          expect(numbers(await read(bus, everything()))).toEqual(messages.map((_, index) => index + 1))
        })

        it('refuses the whole call when another publisher has stored a message on the first subject', async () => {
          const other = await connect()
          const after = await bus.publish([message(1)], { after: 0 })
          await other.publish([message(2)], { after })
          for (const from of [bus, other, await connect()]) {
            const publishing = from.publish([message(8), message(9, 'refunds.PAID')], { after })
            await expect(publishing).rejects.toBeInstanceOf(Overtaken)
          }
          await expect(bus.publish([message(9)], { after: 0 })).rejects.toBeInstanceOf(Overtaken)
          expect(numbers(await read(bus, everything()))).toEqual([1, 2])

          const last = await bus.last(everything())
          await bus.publish([message(3)], { after: last?.sequence ?? 0 })
          expect(numbers(await read(bus, everything()))).toEqual([1, 2, 3])
        })

        it('ignores messages of other publishers on other subjects, or before the given sequence', async () => {
          const other = await connect()
          const after = await bus.publish([message(1)], { after: 0 })
          await other.publish([message(2, 'refunds.PAID')])
          await bus.publish([message(3), message(4)], { after })
          await bus.publish([message(5, 'refunds.PAID')], {
            after: (await bus.last(everything()))?.sequence ?? 0,
          })
          expect(numbers(await read(bus, everything()))).toEqual([1, 2, 3, 4, 5])
        })

        it('stores messages of two concurrent publishers in order, or refuses them', async () => {
          const messages = numbered(300)
          const publishers = [bus, await connect()]
          const outcomes = await Promise.allSettled(
            publishers.map(from => from.publish(messages, { after: 0 })),
          )
          for (const outcome of outcomes)
            if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(Overtaken)
          const stored = numbers(await read(bus, everything()))
          expect(stored).toEqual(stored.map((_, index) => index + 1))
        })
      })

      it('reads thousands of messages', async () => {
        const messages = numbered(2_600)
        for (let from = 0; from < messages.length; from += 500)
          await bus.publish(messages.slice(from, from + 500))
        expect(numbers(await read(bus, everything()))).toEqual(messages.map((_, index) => index + 1))
      })

      it('continues a live read with new messages of any connection', async () => {
        const other = await connect()
        await bus.publish([message(1), message(2)])
        const reading = following(
          bus.read({ subjects: everything(), after: 0, live: true, signal: stop.signal }),
        )
        await eventually(() => expect(numbers(reading.items)).toEqual([1, 2]))
        await bus.publish([message(3)])
        await other.publish([message(4, 'refunds.PAID')])
        await bus.publish([message(5)])
        await eventually(() => expect(numbers(reading.items)).toEqual([1, 2, 3, 4, 5]))

        stop.abort()
        await reading.ended
      })

      it('ends without an error when it is aborted before the start or while reading', async () => {
        await bus.publish(numbered(3))
        const options = { subjects: everything(), after: 0 }
        for (const live of [true, false]) {
          const given: number[] = []
          const controller = new AbortController()
          for await (const stored of bus.read({ ...options, live, signal: controller.signal })) {
            given.push(stored.sequence)
            controller.abort()
          }
          expect(given).toHaveLength(1)
          for await (const stored of bus.read({ ...options, live, signal: controller.signal })) {
            expect.unreachable(`got ${stored.id}`)
          }
        }
      })
    })

    describe('with a retention', () => {
      it('removes older messages and reports them to a reader that missed them', async context => {
        if (!opened.connectRetaining) return context.skip('it removes nothing')
        const retaining = await opened.connectRetaining(3_000)
        connections.push(retaining)
        const missed: MissedMessages[] = []
        const readFrom = async (after: number) => {
          const options = { subjects: everything(), after, live: false, signal: stop.signal }
          const found: Json[] = []
          for await (const { data } of retaining.read({
            ...options,
            missed: range => void missed.push(range),
          }))
            found.push(data)
          return found
        }
        const removedThrough = async (sequence: number) =>
          vi.waitFor(
            async () => expect(await retaining.removedThrough(everything())).toBeGreaterThanOrEqual(sequence),
            { interval: 20 },
          )

        const last = await retaining.publish(numbered(3))
        expect(await readFrom(last - 3)).toHaveLength(3)
        // The last message of a subject may be kept until there is another.
        await removedThrough(last - 1)
        await retaining.publish([message(4)])
        await removedThrough(last)
        expect(await retaining.removedThrough(everything())).toBe(last)
        expect(await readFrom(last)).toEqual([{ number: 4 }])
        expect(missed).toEqual([])
        expect(await readFrom(last - 2)).toEqual([{ number: 4 }])
        expect(missed).toEqual([{ after: last - 2, through: last }])
      })
    })

    describe('backlog', () => {
      it('is the number of messages that a reader has not received, over any connection', async () => {
        const other = await connect()
        const after = await bus.head()
        const reader = `reader-${test}`
        const backlog = (sequence: number) =>
          other.backlog({ reader, subjects: everything(), after: sequence })
        const reading = bus.read({ reader, subjects: everything(), after, live: true, signal: stop.signal })
        const messages = reading[Symbol.asyncIterator]()
        const next = messages.next()
        await bus.publish(numbered(1))
        await next
        expect(await backlog(after + 1)).toBe(0)
        stop.abort()
        await messages.next()
        await bus.publish(numbered(2))
        expect(await backlog(after + 1)).toBe(2)
      })
    })

    describe('broadcast and listen', () => {
      const listen = (from: Bus, subject: string) => {
        const heard: Json[] = []
        const unlisten = from.listen(subject, data => heard.push(data))
        return { heard, unlisten }
      }

      it('reaches every listener on every connection, also the sender’s own, in order', async () => {
        const other = await connect()
        const listeners = [bus, bus, other].map(from => listen(from, `hints.${test}.dropped`))
        const elsewhere = listen(other, `hints.${test}.kept`)
        await Promise.all([bus.ping(), other.ping()])

        await bus.broadcast(`hints.${test}.dropped`, { key: 'a' })
        await bus.broadcast(`hints.${test}.dropped`, null)

        for (const { heard } of listeners) {
          await eventually(() => expect(heard).toEqual([{ key: 'a' }, null]))
        }
        expect(elsewhere.heard).toEqual([])
      })

      it('reaches no listener that came later or was removed', async () => {
        const subject = `hints.${test}.dropped`
        const other = await connect()
        const gone = listen(other, subject)
        const there = listen(other, subject)
        await other.ping()
        await bus.broadcast(subject, 1)
        await eventually(() => expect([gone.heard, there.heard]).toEqual([[1], [1]]))

        gone.unlisten()
        const third = await connect()
        const late = [bus, other, third].map(from => listen(from, subject))
        await Promise.all([bus, other, third].map(from => from.ping()))
        await bus.broadcast(subject, 2)
        await eventually(() => expect(there.heard).toEqual([1, 2]))
        for (const { heard } of late) await eventually(() => expect(heard).toEqual([2]))
        expect(gone.heard).toEqual([1])
      })

      it('gives each listener its own copy of the data', async () => {
        const subject = `hints.${test}.dropped`
        const sent = { keys: ['a'] }
        const heard: Json[] = []
        bus.listen(subject, data => {
          ;(data as typeof sent).keys.push('b')
          heard.push(data)
        })
        const other = listen(bus, subject)
        await bus.ping()
        await bus.broadcast(subject, sent)
        await eventually(() => expect(other.heard).toEqual([{ keys: ['a'] }]))
        expect(heard).toEqual([{ keys: ['a', 'b'] }])
        expect(sent).toEqual({ keys: ['a'] })
      })
    })
  })
}

const eventually = (expectation: () => void) => vi.waitFor(expectation, { interval: 5 })

const numbers = (messages: StoredMessage[]) =>
  messages.map(({ data }) =>
    data !== null && typeof data === 'object' && 'number' in data ? data.number : data,
  )

/** Runs an iteration and collects its items; `ended` rejects when it fails. */
function following<T>(items: AsyncIterable<T>): { items: T[]; ended: Promise<void> } {
  const given: T[] = []
  const ended = (async () => {
    for await (const item of items) given.push(item)
  })()
  return { items: given, ended }
}
