import { randomUUID } from 'node:crypto'
import type { Bus, Message, StoredMessage } from '@gantry/messaging'
import type { ReadModels } from '@gantry/stores'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { Fact } from '../log/event.ts'
import type { EventStore } from '../log/event-store.ts'
import { LOG_IDENTITY, logIdentity, renewLogIdentity } from '../log/log-identity.ts'
import { LOG_POSITION, type Publication, type RelayOptions, startRelay } from '../publishing/relay.ts'
import { type HeldStream, heldStreams, listHeld } from '../supervision/quarantine.ts'
import type { Log, Worker } from '../supervision/worker.ts'
import { storyMetadata } from './decider-story.ts'

/** The stores that relays use. The bus can carry other messages before and during the test; the others must be empty. */
export interface RelayStores {
  eventStore: EventStore
  /** Another event store, empty. */
  otherLog: EventStore
  readModels: ReadModels
  bus: Bus
  /** Resolves when the bus no longer detects a repeated message as a duplicate, if it has a time limit for that. */
  forgetIds(): Promise<void>
  close(): Promise<void>
}

type StartOptions = Partial<Omit<RelayOptions, 'publication'> & { publication: Partial<Publication> }>

/** Tests the guarantees of the relay over a bus, including the loss of its checkpoint and its lease. */
export function relayContract(name: string, open: () => Promise<RelayStores>): void {
  describe(`the relay over ${name}`, () => {
    let stores: RelayStores
    let bus: Bus
    let workers: Worker[]
    let errors: { details: object; line: string }[]
    /** A part of subjects that no other test uses. */
    let part: string
    const log: Log = { info() {}, warn() {}, error: (details, line) => void errors.push({ details, line }) }

    beforeEach(async () => {
      stores = await open()
      bus = stores.bus
      workers = []
      errors = []
      part = `test${randomUUID().slice(0, 8)}`
    })
    afterEach(async () => {
      await Promise.all(workers.map(worker => worker.stop()))
      await stores.close()
    })

    /** Appends an event for each number, each to a separate stream. */
    const append = async (...numbers: number[]) => {
      for (const number of numbers) await appendTo(stores.eventStore, number)
    }
    const appendTo = (eventStore: EventStore, number: number, category = 'counter') => {
      const { actor, requestId, now: at } = storyMetadata
      const metadata = { actor, requestId, at }
      const fact = { id: randomUUID(), type: 'Counted', data: { number }, metadata }
      return eventStore.append(`${category}-${randomUUID()}`, [fact], -1)
    }
    /** Odd and even numbers have different subjects. */
    const messageOf = ({ id, data }: Pick<Fact, 'id' | 'data'>): Message => ({
      id,
      subject: `events.${part}.${Number(data.number) % 2 === 0 ? 'EVEN' : 'ODD'}`,
      data: data.number ?? null,
    })
    const start = ({ publication, ...options }: StartOptions = {}) => {
      const started = startRelay({
        name: 'test.relay',
        eventStore: stores.eventStore,
        readModels: stores.readModels,
        bus,
        holder: randomUUID(),
        log,
        ...options,
        publication: {
          streamPrefixes: ['counter-'],
          publicEvents: fact => [messageOf(fact)],
          subjects: [`events.${part}.*`],
          ...publication,
        },
      })
      workers.push(started)
      return started
    }
    const stored = async () => {
      const messages: StoredMessage[] = []
      const { signal } = new AbortController()
      const options = { after: 0, live: false, subjects: [`events.${part}.>`], signal }
      for await (const message of bus.read(options)) messages.push(message)
      return messages
    }
    const published = async () => (await stored()).map(({ data }) => data)
    /** Waits until the last message has this number. */
    const reaches = (number: number) =>
      vi.waitFor(async () => expect((await published()).at(-1)).toBe(number), { interval: 20 })
    const loseCheckpoint = () => stores.readModels.checkpoints.clear('test.relay')
    /** Releases the lease of a holder without its knowledge, as if it had been paused for longer than the lease. */
    const takeLease = async (holder: string) => {
      const lost = await stores.readModels.leases.acquire('test.relay', holder, 5_000)
      if (lost) await stores.readModels.leases.release(lost)
    }

    test('publishes events once, in the order of the log, each with its position and the identity of the log', async () => {
      await append(1, 2, 3)
      start()
      const { position } = await appendTo(stores.eventStore, 4)
      await reaches(4)
      expect(await published()).toEqual([1, 2, 3, 4])
      const positions = (await stored()).map(({ headers }) => headers?.[LOG_POSITION] ?? '')
      expect(positions).toEqual([...new Set(positions)].sort())
      expect(positions.at(-1)).toBe(position)
      const identities = (await stored()).map(({ headers }) => headers?.[LOG_IDENTITY])
      expect(identities).toEqual(Array(4).fill(await logIdentity(stores.eventStore)))
    })

    test('leaves out an event whose mapping to public events throws, and holds its stream in quarantine', async () => {
      await append(1, 2, 3)
      const publicEvents = (fact: Fact) => {
        if (fact.data.number === 2) throw new TypeError('not readable')
        return [messageOf(fact)]
      }
      start({ publication: { publicEvents } })
      await reaches(3)
      expect(await published()).toEqual([1, 3])
      expect(errors.map(({ line }) => line)).toEqual(['left out an event that cannot be made public'])
      expect(errors[0]?.details).toMatchObject({ worker: 'test.relay', type: 'Counted', revision: 0 })
      const held = async () => {
        const streams: HeldStream[] = []
        for await (const stream of listHeld(heldStreams('test.relay'), stores.readModels))
          streams.push(stream)
        return streams
      }
      await vi.waitFor(async () =>
        expect(await held()).toMatchObject([{ status: 'QUARANTINED', reason: 'TypeError: not readable' }]),
      )
    })

    test('continues after its last message when the checkpoint is lost, even without duplicate detection', async () => {
      await append(1, 2, 3)
      const before = start()
      await reaches(3)
      await before.stop()
      await loseCheckpoint()
      await stores.forgetIds()
      await append(4, 5)
      start()
      await reaches(5)
      expect(await published()).toEqual([1, 2, 3, 4, 5])
    })

    test('continues between two messages of one event', async () => {
      const publicEvents = ({ id, data }: Fact) =>
        [1, 2, 3].map(n => messageOf({ id: `${id}-${n}`, data: { number: Number(data.number) * 10 + n } }))
      await append(1, 2)
      const dying: Bus = {
        ...bus,
        async publish(messages, options) {
          await bus.publish(messages.slice(0, 5), options)
          throw new Error('the process died')
        },
      }
      const before = start({ publication: { publicEvents }, bus: dying })
      await reaches(22)
      await before.stop()
      await stores.forgetIds()
      await append(3)
      start({ publication: { publicEvents } })
      await reaches(33)
      expect(await published()).toEqual([11, 12, 13, 21, 22, 23, 31, 32, 33])
    })

    test('continues from its checkpoint when the last message has no position', async () => {
      const { position } = await appendTo(stores.eventStore, 1)
      await bus.publish([messageOf({ id: randomUUID(), data: { number: 1 } })])
      await stores.readModels.checkpoints.save('test.relay', position)
      await append(2)
      start()
      await reaches(2)
      expect(await published()).toEqual([1, 2])
    })

    test('continues after its own last message, not after that of another service', async () => {
      await append(1)
      const before = start()
      await reaches(1)
      await before.stop()
      await loseCheckpoint()
      await stores.forgetIds()
      await append(2)
      await appendTo(stores.eventStore, 9, 'other')
      const name = 'other.relay'
      const other = { streamPrefixes: ['other-'], subjects: [`events.${part}.other.*`] }
      const publicEvents = (fact: Fact) => [{ ...messageOf(fact), subject: `events.${part}.other.COUNTED` }]
      start({ name, publication: { ...other, publicEvents } })
      await reaches(9)
      start()
      await reaches(2)
      expect(await published()).toEqual([1, 9, 2])
    })

    test('publishes nothing when it was paused while publishing and another relay took over', async () => {
      const entered = Promise.withResolvers<void>()
      const gate = Promise.withResolvers<void>()
      const ended = Promise.withResolvers<unknown>()
      const paused: Bus = {
        ...bus,
        async publish(messages, options) {
          entered.resolve()
          await gate.promise
          const publishing = bus.publish(messages, options)
          publishing.then(() => ended.resolve(undefined), ended.resolve)
          return publishing
        },
      }
      await append(1, 2)
      const one = start({ bus: paused, holder: 'one' })
      await entered.promise
      await takeLease('one')
      start({ holder: 'two' })
      await reaches(2)
      await append(3, 4)
      await reaches(4)
      await stores.forgetIds()
      gate.resolve()
      expect(await ended.promise).toMatchObject({ name: 'Overtaken' })
      await append(5)
      await reaches(5)
      expect(await published()).toEqual([1, 2, 3, 4, 5])
      await one.stop()
    })

    test('tolerates a log whose head is behind for a moment', async () => {
      await append(1)
      const before = start()
      await reaches(1)
      await before.stop()
      let looks = 0
      const late: EventStore = {
        ...stores.eventStore,
        head: async () => (++looks < 4 ? '' : stores.eventStore.head()),
      }
      const worker = start({ eventStore: late })
      await append(2)
      await reaches(2)
      expect({ errors, waitsFor: worker.waitsFor }).toEqual({ errors: [], waitsFor: undefined })
    })

    test('is not ready before it has read its last message, also without the lease', async () => {
      await stores.readModels.leases.acquire('test.relay', 'another', 60_000)
      const [asked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      const last: Bus['last'] = async subjects => {
        asked.resolve()
        await gate.promise
        return bus.last(subjects)
      }
      const worker = start({ bus: { ...bus, last } })
      await asked.promise
      expect(worker.waitsFor).toBe('its last message on the bus')
      gate.resolve()
      await vi.waitFor(() => expect(worker.waitsFor).toBeUndefined())
    })

    test('stops permanently and logs instructions once when the log ends before its last message', async () => {
      await append(1, 2, 3)
      const before = start()
      await reaches(3)
      await before.stop()
      const eventStore = stores.otherLog
      for (const { stream, ...event } of await stores.eventStore.readStream('log-identity'))
        await eventStore.append(stream, [event], -1)
      await appendTo(eventStore, 7)
      const worker = start({ eventStore })
      await stores.readModels.leases.acquire('test.relay', 'another', 60_000)
      await vi.waitFor(() => expect(errors).not.toEqual([]))
      expect(worker.waitsFor).toMatch(
        /^an operator: the log ends before message \d+ of the bus \(events\..*\.ODD\), so it was restored from a backup: follow "Restoring the log" in docs\/operations\.md$/,
      )
      expect(errors).toEqual([
        { details: { worker: 'test.relay' }, line: `has stopped and waits for ${worker.waitsFor}` },
      ])
      // Also once the log has grown beyond that message: its new events cannot be distinguished from the lost ones.
      for (const number of [8, 9, 10, 11]) await appendTo(eventStore, number)
      await worker.stop()
      expect(await published()).toEqual([1, 2, 3])
      expect(errors).toHaveLength(1)
    })

    test('stops permanently when the read models or the messages are of a log that was replaced', async () => {
      await append(1)
      const before = start()
      await reaches(1)
      await before.stop()
      await renewLogIdentity(stores.eventStore)
      const reason = async () => {
        const worker = start()
        await vi.waitFor(() =>
          expect(worker.waitsFor).toMatch(/^an operator: .* of a log that was replaced: /),
        )
        return worker.waitsFor
      }
      expect(await reason()).toContain('the read models are')
      await stores.readModels.checkpoints.clear('log')
      expect(await reason()).toMatch(/message \d+ of the bus \(events\..*\.ODD\) is/)
    })
  })
}
