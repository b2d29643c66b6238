import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdtemp, rename, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteEventStore, sqliteReadModels } from '@gantry/embedded'
import { startReactor } from '@gantry/event-sourcing'
import { type Bus, BusUnavailable, type Json, type Message, type MissedMessages } from '@gantry/messaging'
import { busContract } from '@gantry/messaging/testing'
import { checkBus, dropStream, type NatsOptions, NatsRefused, natsBus } from '@gantry/messaging-nats'
import { connect as connectClient, DeliverPolicy, nanos, type StreamConfig } from 'nats'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Engine, Faults } from './src/engine.ts'
import { findDebianNats, findNats } from './src/find-nats.ts'
import { insist } from './src/fixtures/insist.ts'
import { ranOn } from './src/ran-on.ts'

const eventually = (expectation: () => unknown) => vi.waitFor(expectation, { timeout: 20_000, interval: 20 })

const found = await findNats()
const skipped = 'needs a server that the tests start'
if (!found.found) it.skip('NATS', { meta: { skipped: `there is no NATS: ${found.how}` } }, () => {})
const servers = found.found ? [found] : []

// The oldest supported version is that of Debian, which is also used without Go. A server at a URL is tested alone.
const debian = servers.some(({ kind }) => kind !== 'url') ? await findDebianNats() : found
const versions = [...servers, ...(debian.found ? [debian] : [])].filter(
  ({ description }, index, all) => all.findIndex(other => other.description === description) === index,
)

const DAY_MS = 86_400_000

describe.each(versions)('the contract on $description', ({ kind, description, start }) => {
  ranOn(description)
  let shared: Engine
  beforeAll(async () => {
    shared = await start()
  }, 120_000)
  afterAll(() => shared.stop())
  busContract(description, async () => {
    const connect = async (retentionMs?: number) =>
      natsBus({ url: shared.url, stream: { ...(retentionMs && { retentionMs }) } })
    let retains = false
    const keepAgain = async () => {
      const bus = await connect(DAY_MS)
      await bus.ping().finally(() => bus.close())
    }
    return {
      connect: () => connect(),
      // Messages on a server at a URL must not be removed.
      ...(kind !== 'url' && {
        async connectRetaining(retentionMs: number) {
          retains = true
          return connect(retentionMs)
        },
      }),
      close: async () => void (retains && (await keepAgain())),
    }
  })
})

describe.each(servers)('$description', ({ kind, description, start }) => {
  ranOn(description)
  // These tests need their own server: one at a URL may have other data and must not be killed.
  describe.skipIf(kind === 'url')('its own server', { meta: { skipped } }, () => {
    let engine: Engine
    let buses: Bus[]
    let stop: AbortController

    beforeEach(async () => {
      engine = await start()
      buses = []
      stop = new AbortController()
    })
    afterEach(async () => {
      stop.abort()
      await Promise.all(buses.map(bus => bus.close()))
      await engine.stop()
    })

    const open = (options: Partial<NatsOptions> = {}) => {
      const bus = natsBus({ url: engine.url, ...options })
      buses.push(bus)
      return bus
    }
    const numbered = (from: number, count: number, subject = 'events.orders'): Message[] =>
      Array.from({ length: count }, (_, index) => ({ id: randomUUID(), subject, data: from + index }))
    const read = async (bus: Bus, subject = 'events.>') => {
      const given: Json[] = []
      const options = { subjects: [subject], after: 0, live: false, signal: stop.signal }
      for await (const { data } of bus.read(options)) given.push(data)
      return given
    }
    const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
    /** @returns a function that starts a reactor on a bus. All have the same positions. */
    const reacting = async (handle: (data: number) => unknown) => {
      const folder = await mkdtemp(join(tmpdir(), 'gantry-positions-'))
      const eventStore = sqliteEventStore({ path: join(folder, 'events.db') })
      const readModels = sqliteReadModels({ path: join(folder, 'read-models.db') })
      onTestFinished(async () => {
        await Promise.all([eventStore.close(), readModels.close()])
        await rm(folder, { recursive: true })
      })
      const react = async ({ data }: Message) => void handle(Number(data))
      const log = { info() {}, warn() {}, error() {} }
      return (bus: Bus) =>
        startReactor(
          { consumer: 'shop', subjects: ['events.orders'], react },
          { bus, eventStore, readModels, holder: 'a', log },
        )
    }

    it('drops all messages, and is created again', async () => {
      await open().publish(numbered(1, 3))
      expect(await dropStream({ url: engine.url })).toBe(true)
      expect(await dropStream({ url: engine.url })).toBe(false)
      const bus = open()
      expect(await bus.head()).toBe(0)
      await bus.publish(numbered(4, 1))
      expect(await read(bus)).toEqual([4])
    })

    it('neither creates nor changes the stream on request', async () => {
      const reading = open({ stream: { create: false } })
      expect(await reading.last(['events.a'])).toBeUndefined()
      expect(await dropStream({ url: engine.url })).toBe(false)
      await open().publish([{ id: '1', subject: 'events.a', data: 1 }])
      expect((await reading.last(['events.a']))?.data).toBe(1)
    })

    it('names the message that is too large, and stores none of the messages after it', async () => {
      const bus = open()
      const [first, large, last] = numbered(1, 3) as [Message, Message, Message]
      const publishing = bus.publish([first, { ...large, data: 'x'.repeat(1_100_000) }, last])
      await expect(publishing).rejects.toThrow(
        `message ${large.id} on events.orders is larger than the 1048576`,
      )
      expect(await read(bus)).toEqual([1])
    })

    it('continues after the expected message was purged', async () => {
      const bus = open()
      const after = await bus.publish(numbered(1, 2), { after: 0 })
      const filter = { filter: 'events.orders' }
      const client = await connectClient({ servers: engine.url })
      await client.request('$JS.API.STREAM.PURGE.GANTRY', JSON.stringify(filter))
      await client.close()
      expect(await bus.last(['events.>'])).toBeUndefined()
      expect(await bus.publish(numbered(3, 2), { after })).toBe(after + 2)
      expect(await read(bus)).toEqual([3, 4])
    })

    it('refuses once to continue after a message that the server has lost', async () => {
      const bus = open()
      const after = await bus.publish(numbered(1, 3), { after: 0 })
      const client = await connectClient({ servers: engine.url })
      await (await client.jetstreamManager()).streams.deleteMessage('GANTRY', after)
      await client.close()
      const more = () => bus.publish(numbered(4, 1), { after })
      await expect(more()).rejects.toThrow(
        /^bus unavailable: the last message on events\.orders is \d+, before message/,
      )
      expect(await more()).toBe(after + 1)
    })

    it('finds the last message in concurrent searches, and after a process died during one', async () => {
      const others = [open(), open(), open()]
      await others[0]?.publish(numbered(1, 3))
      const died = await connectClient({ servers: engine.url })
      const { consumers } = await died.jetstreamManager()
      await consumers.add('GANTRY', {
        name: 'last-events',
        deliver_subject: 'nobody.hears',
        deliver_policy: DeliverPolicy.Last,
        filter_subject: 'events.*',
        inactive_threshold: nanos(2_000),
      })
      await died.close()
      for (let round = 0; round < 10; round++) {
        const found = await Promise.all(others.map(bus => bus.last(['events.*'])))
        expect(found.map(message => message?.data)).toEqual([3, 3, 3])
      }
    })

    it('refuses a subject that no stream stores', async () => {
      await expect(open().publish(numbered(1, 1, 'elsewhere.orders'))).rejects.toThrow(
        'bus unavailable: no stream stores elsewhere.orders',
      )
    })

    it('returns messages of other publishers without an id or JSON', async () => {
      const bus = open()
      await bus.ping()
      const { port, hostname } = new URL(engine.url)
      const socket = connect(Number(port), hostname)
      socket.end('CONNECT {"verbose":false}\r\nPUB deployments.reported 5\r\nhello\r\nPING\r\n')
      onTestFinished(() => void socket.destroy())
      const options = { subjects: ['deployments.reported'], after: 0, live: true, signal: stop.signal }
      for await (const { id, data, sequence } of bus.read(options)) {
        expect({ id, data }).toEqual({ id: `GANTRY-${sequence}`, data: 'hello' })
        break
      }
    })

    it('adds the subjects of a newer version to the stream, and removes none', async () => {
      const older = open({ stream: { subjects: ['events.>'] } })
      await older.publish(numbered(1, 1))
      const newer = open({ stream: { subjects: ['events.>', 'refunds.made'] } })
      await newer.publish(numbered(2, 1, 'refunds.made'))
      const olderAgain = open({ stream: { subjects: ['events.>'] } })
      await olderAgain.ping()
      await newer.publish(numbered(3, 1, 'refunds.made'))
      expect(await read(olderAgain, 'refunds.made')).toEqual([2, 3])
    })

    it('ends a read when another one with its name begins', async () => {
      const bus = open()
      await bus.publish(numbered(1, 1))
      const named = (from: Bus) =>
        from.read({ reader: 'shop', subjects: ['events.orders'], after: 0, live: true, signal: stop.signal })
      const [earlier, later] = [named(bus), named(open())].map(each => each[Symbol.asyncIterator]())
      expect((await earlier?.next())?.value?.data).toBe(1)
      const ended = expect(earlier?.next()).rejects.toThrow(BusUnavailable)
      expect((await later?.next())?.value?.data).toBe(1)
      await ended
    })

    describe('with a retention', () => {
      const RETENTION_MS = 2_000
      const retaining = () => open({ stream: { retentionMs: RETENTION_MS } })
      const gone = (bus: Bus, sequence: number) =>
        eventually(async () => expect(await bus.removedThrough(['events.>'])).toBe(sequence))

      it('reports missed messages to a reader, but not those on other subjects while it had all of its own', async () => {
        const bus = retaining()
        const missed: Record<'shop' | 'quiet', MissedMessages[]> = { shop: [], quiet: [] }
        let passed = 0
        /** Reads until one message has arrived. */
        const next = async (subject: 'shop' | 'quiet', after: number) => {
          const options = { subjects: [`events.${subject}`], after, live: true, signal: stop.signal }
          const reports = {
            missed: (range: MissedMessages) => void missed[subject].push(range),
            passed(sequence: number) {
              passed = sequence
            },
          }
          for await (const { data } of bus.read({ ...options, ...reports })) return data
        }
        await bus.publish(numbered(1, 2, 'events.shop'))
        const quiet = next('quiet', 0)
        await eventually(() => expect(passed).toBe(2))
        await gone(bus, 2)
        await bus.publish(numbered(3, 1, 'events.quiet'))
        expect(await quiet).toBe(3)
        expect(missed.quiet).toEqual([])
        await bus.publish(numbered(4, 1, 'events.shop'))
        expect(await next('shop', 1)).toBe(4)
        expect(missed.shop).toEqual([{ after: 1, through: 2 }])
      })

      it('publishes after a last message that was removed, on the same connection and on another', async () => {
        const bus = retaining()
        const first = await bus.publish(numbered(1, 1), { after: 0 })
        await gone(bus, first)
        const second = await bus.publish(numbered(2, 1), { after: first })
        await gone(bus, second)
        expect(await bus.last(['events.>'])).toBeUndefined()
        expect(await retaining().publish(numbered(3, 1), { after: 0 })).toBe(3)
      })

      it('is applied when several processes create the stream concurrently', async () => {
        const buses = [undefined, 60_000, undefined, undefined].map(retentionMs =>
          open({ stream: { ...(retentionMs && { retentionMs }) } }),
        )
        await Promise.all(buses.map(bus => bus.publish(numbered(1, 1))))
        const client = await connectClient({ servers: engine.url })
        onTestFinished(() => client.close())
        const { config } = await (await client.jetstreamManager()).streams.info('GANTRY')
        expect(config.max_age).toBe(nanos(60_000))
      })

      it('may be shorter than the duplicate window, and is kept by processes without the setting', async () => {
        await open().ping()
        await open({ stream: { retentionMs: 60_000 } }).ping()
        await open().ping()
        const client = await connectClient({ servers: engine.url })
        onTestFinished(() => client.close())
        const { config } = await (await client.jetstreamManager()).streams.info('GANTRY')
        expect([config.max_age, config.duplicate_window]).toEqual([nanos(60_000), nanos(60_000)])
      })

      it('is refused when a setting needs messages for longer', async () => {
        const needed = { setting: 'WEBHOOK_RETENTION', ms: 3_600_000 }
        await open({ stream: { needed } }).ping()
        await open({ stream: { needed, retentionMs: 3_600_000 } }).ping()
        await open({ stream: { retentionMs: 60_000 } }).ping()
        await expect(open({ stream: { needed } }).ping()).rejects.toThrow(
          'the stream GANTRY keeps messages for 60s, which is shorter than WEBHOOK_RETENTION (3600s)',
        )
        await expect(checkBus({ url: engine.url, stream: { needed } })).rejects.toThrow(NatsRefused)
        await open({ stream: { needed, retentionMs: 7_200_000 } }).ping()
      })
    })

    it('is refused several replicas on a single server, whether the stream exists or not', async () => {
      const reason = 'MESSAGING_REPLICAS: the servers cannot keep 3 replicas of the stream: '
      const several = { url: engine.url, stream: { replicas: 3 } }
      await expect(checkBus(several)).rejects.toThrow(`${reason}replicas > 1 not supported`)
      await open().ping()
      await expect(checkBus(several)).rejects.toThrow(`${reason}the server is not in a cluster`)
      await expect(open({ stream: { replicas: 3 } }).ping()).rejects.toThrow(reason)
    })

    it('creates a removed stream anew, with the settings of the processes that have them', async () => {
      const [plain, retaining] = [open(), open({ stream: { retentionMs: 60_000 } })]
      await Promise.all([plain.publish(numbered(1, 1)), retaining.ping()])
      const client = await connectClient({ servers: engine.url })
      onTestFinished(() => client.close())
      const { streams } = await client.jetstreamManager()
      await streams.delete('GANTRY')
      await expect(plain.ping()).rejects.toThrow(BusUnavailable)
      await insist(() => plain.publish(numbered(2, 1)))
      expect(await read(plain)).toEqual([2])
      await expect(retaining.ping()).rejects.toThrow(BusUnavailable)
      await insist(() => retaining.ping())
      expect((await streams.info('GANTRY')).config.max_age).toBe(nanos(60_000))
    })

    describe('when an update of the stream overwrites one that it has not seen', () => {
      const client = async () => {
        const nc = await connectClient({ servers: engine.url })
        onTestFinished(() => nc.close())
        const { streams } = await nc.jetstreamManager()
        return {
          config: async () => (await streams.info('GANTRY')).config,
          /** Without the current properties, which the library's `update` adds. */
          async overwrite(config: Partial<StreamConfig>) {
            const { data } = await nc.request('$JS.API.STREAM.UPDATE.GANTRY', JSON.stringify(config))
            expect(JSON.parse(Buffer.from(data).toString()).error).toBeUndefined()
          },
        }
      }
      /** Resolves when the connection has noticed the overwriting and was made again. */
      const pingsAgain = async (bus: Bus) => {
        await expect(bus.ping()).rejects.toThrow('another process has overwritten settings of the stream')
        await insist(() => bus.ping())
      }

      it('gets the settings of the process that has them again, and keeps both subjects', async ({
        skip,
      }) => {
        await open().ping()
        const { config, overwrite } = await client()
        const read = await config()
        const earlier = open({ stream: { retentionMs: 60_000 } })
        await earlier.ping()
        const later = open({ stream: { retentionMs: 120_000 } })
        await later.ping()
        await earlier.ping()
        const { metadata } = await config()
        skip(!metadata, 'needs nats-server 2.10 or newer: earlier ones have no metadata of streams')
        // As a process of a newer release that has read the stream before.
        await overwrite({ ...read, subjects: [...read.subjects, 'refunds.made'] })
        await pingsAgain(later)
        const { max_age, subjects } = await config()
        expect(max_age).toBe(nanos(120_000))
        expect(subjects).toEqual([...read.subjects, 'refunds.made'])
        await later.ping()
      })

      it('gets the subjects of a process again', async () => {
        await open().ping()
        const { config, overwrite } = await client()
        const before = await config()
        const newer = open({ stream: { subjects: ['events.>', 'refunds.made'] } })
        await newer.ping()
        await overwrite(before)
        await pingsAgain(newer)
        await newer.publish(numbered(1, 1, 'refunds.made'))
        expect(await read(newer, 'refunds.made')).toEqual([1])
      })
    })

    describe('when the server fails', () => {
      const faults = (): Faults => {
        if (!engine.faults) throw new Error('only a server that the tests start can fail')
        return engine.faults
      }

      it('keeps acknowledged messages and the order on kill -9, and reactors skip none', async () => {
        const bus = open()
        const handled: number[] = []
        const react = await reacting(data => handled.push(data))
        const reactor = react(open())
        onTestFinished(() => reactor.stop())
        let acknowledged = 0
        const publishing = (async () => {
          for (let from = 1; from <= 2_000; from += 200) {
            const batch = numbered(from, 200)
            await insist(() => bus.publish(batch))
            acknowledged += batch.length
          }
        })()
        for (const after of [200, 1_000]) {
          await eventually(() => expect(acknowledged).toBeGreaterThanOrEqual(after))
          await faults().kill()
          const kept = acknowledged
          await faults().restart()
          await eventually(async () => expect((await read(open())).slice(0, kept)).toEqual(upTo(kept)))
        }
        await publishing
        expect(await read(open())).toEqual(upTo(2_000))
        await eventually(() => expect(handled.at(-1)).toBe(2_000))
        // A reactor may go back, but never skips a message.
        for (const [index, number] of handled.entries()) {
          expect(number).toBeLessThanOrEqual((handled[index - 1] ?? 0) + 1)
        }
        expect([...new Set(handled)]).toEqual(upTo(2_000))
      }, 90_000)

      it('gives a reactor all messages again when it had received more than the server has', async ({
        skip,
      }) => {
        skip(kind === 'docker', 'needs the folder of the server')
        const folder = await mkdtemp(join(tmpdir(), 'gantry-nats-'))
        onTestFinished(() => rm(folder, { recursive: true }))
        const messages = join(folder, 'jetstream/$G/streams/GANTRY/msgs')
        const handled: number[] = []
        const react = await reacting(data => handled.push(data))
        /** Works with a server on the folder, which then stops in order. */
        const onServer = async (work: (bus: Bus) => Promise<unknown>) => {
          const losing = await start({ folder })
          const bus = natsBus({ url: losing.url })
          const reactor = react(bus)
          await work(bus)
          await reactor.stop()
          await bus.close()
          await losing.stop()
        }
        await onServer(bus => bus.publish(numbered(1, 3)))
        await cp(messages, `${folder}/earlier`, { recursive: true })
        await onServer(async bus => {
          await bus.publish(numbered(4, 3))
          await eventually(() => expect(handled).toEqual(upTo(6)))
        })
        await rm(messages, { recursive: true })
        await rename(`${folder}/earlier`, messages)
        await onServer(async bus => {
          await bus.publish(numbered(7, 3))
          await eventually(() => expect(handled.slice(6)).toEqual([1, 2, 3, 7, 8, 9]))
        })
      }, 60_000)

      it('keeps the settings of the process that started last when an earlier one reconnects', async () => {
        const earlier = open({ stream: { retentionMs: 60_000 } })
        await earlier.ping()
        const last = open({ stream: { retentionMs: 120_000 } })
        await last.ping()
        await last.close()
        await faults().kill()
        await faults().restart()
        await insist(() => earlier.ping())
        const client = await connectClient({ servers: engine.url })
        onTestFinished(() => client.close())
        const { config } = await (await client.jetstreamManager()).streams.info('GANTRY')
        expect(config.max_age).toBe(nanos(120_000))
      })

      it('fails immediately while the server is away, and recovers when it is back', async () => {
        const lines: string[] = []
        const bus = open({ report: line => lines.push(line) })
        const other = open()
        const { signal } = stop
        const heard: Json[] = []
        bus.listen('hints.dropped', data => heard.push(data))
        await Promise.all([bus.ping(), other.ping()])
        const reading = drained(bus.read({ subjects: ['events.>'], after: 0, live: true, signal }))
        const underWay = Promise.allSettled([reading])
        await bus.ping()

        await faults().kill()
        const unavailable = (outcomes: PromiseSettledResult<unknown>[], why: RegExp) => {
          for (const outcome of outcomes) {
            expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(BusUnavailable) })
            expect(outcome).toMatchObject({ reason: { message: expect.stringMatching(why) } })
          }
        }
        unavailable(await underWay, /^bus unavailable: the connection was lost$/)
        await eventually(() => expect(lines.at(-1)).toContain('refused'))
        const calls = [
          bus.publish(numbered(1, 1)),
          bus.broadcast('hints.dropped', 1),
          bus.head(),
          bus.last(['events.>']),
          bus.ping(),
          drained(bus.read({ subjects: ['events.>'], after: 0, live: false, signal })),
        ]
        unavailable(
          await Promise.allSettled(calls),
          /^bus unavailable: MESSAGING_URL nats:..127\.0\.0\.1:\d+: the connection was refused/,
        )

        await faults().restart()
        await eventually(() => other.ping())
        await eventually(() => bus.ping())
        await other.broadcast('hints.dropped', 2)
        await eventually(() => expect(heard).toEqual([2]))
        await bus.publish(numbered(1, 1))
        expect(await read(other)).toEqual([1])
        expect(lines.map(line => line.replace(/^MESSAGING_URL \S+: /, '').replace(/ [\d.]+$/, ''))).toEqual([
          'connected to nats-server',
          'the connection was lost',
          'the connection was refused; is a nats-server running there?',
          'connected to nats-server',
        ])
      })

      it('waits for a server that starts later', async () => {
        await faults().kill()
        const bus = open()
        const heard: Json[] = []
        bus.listen('hints.dropped', data => heard.push(data))
        await expect(bus.ping()).rejects.toThrow(
          /^bus unavailable: MESSAGING_URL nats:.*: the connection was refused; is a nats-server running there\?$/,
        )
        await faults().restart()
        await eventually(() => bus.ping())
        await bus.broadcast('hints.dropped', 1)
        await eventually(() => expect(heard).toEqual([1]))
      })

      it('times out on a server that does not answer', async () => {
        const bus = open()
        await bus.ping()
        await faults().pause()
        const [message] = numbered(1, 1) as [Message]
        await eventually(() =>
          expect(bus.publish([message])).rejects.toThrow('bus unavailable: the server does not answer'),
        )
        await faults().resume()
        await insist(() => bus.publish([message]))
        expect(await read(bus)).toEqual([1])
      })
    })
  })
})

describe.each(servers)('$description', ({ kind, description, start }) => {
  ranOn(description)
  describe.skipIf(kind === 'url')('the check before the start', { meta: { skipped } }, () => {
    const started = async (...args: string[]) => {
      const engine = await start({ args })
      onTestFinished(() => engine.stop())
      return engine.url
    }
    const refusal = async (options: NatsOptions) => {
      const error = await checkBus(options).catch(thrown => thrown)
      expect(error).toBeInstanceOf(NatsRefused)
      return error.message
    }

    it('reports a server without JetStream', async () => {
      const url = await started('-js=false')
      expect(await refusal({ url })).toBe(
        `MESSAGING_URL ${url}: JetStream is not enabled there; start the server with: nats-server -js`,
      )
    })

    it('reports a refused user, password or token', async () => {
      const url = await started('--user', 'gantry', '--pass', 'its p@ssword')
      const refused = `MESSAGING_URL ${url}: the server rejects the user, password, token or key`
      const withUser = (userinfo: string) => url.replace('//', `//${userinfo}@`)
      expect(await refusal({ url })).toBe(refused)
      expect(await refusal({ url: withUser('gantry:wrong') })).toBe(refused)
      expect(await refusal({ url: withUser('its%20p%40ssword') })).toBe(refused)
      await checkBus({ url: withUser('gantry:its%20p%40ssword') })
      await checkBus({ url: withUser('gantry:wrong'), credentials: { password: 'its p@ssword' } })

      const guarded = await started('--auth', 's3cret')
      expect(await refusal({ url: guarded })).toContain('the server rejects the user')
      await checkBus({ url: guarded.replace('//', '//s3cret@') })
    })

    it('reports a server without encryption', async () => {
      const url = await started()
      const encrypted = url.replace('nats:', 'tls:')
      expect(await refusal({ url: encrypted })).toBe(
        `MESSAGING_URL ${encrypted}: the server does not offer encryption (TLS)`,
      )
    })

    it('reports an unreachable host, or a server other than NATS', async () => {
      const server = createServer((_, response) => response.end())
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const { port } = server.address() as AddressInfo
      const http = connect(port, '127.0.0.1')
      http.destroy()
      server.on('connection', socket => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))
      expect(await refusal({ url: `nats://127.0.0.1:${port}` })).toBe(
        `MESSAGING_URL nats://127.0.0.1:${port}: the server is not a nats-server`,
      )
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
      expect(await refusal({ url: `nats://127.0.0.1:${port}` })).toBe(
        `MESSAGING_URL nats://127.0.0.1:${port}: the connection was refused; is a nats-server running there?`,
      )
      expect(await refusal({ url: 'nats://nowhere.invalid' })).toMatch(
        /^MESSAGING_URL nats:\/\/nowhere\.invalid:4222: (there is no such host|the name of the host cannot be looked up)$/,
      )
    })

    it('reports another stream with the same subjects', async () => {
      const url = await started()
      await checkBus({ url, stream: { name: 'OTHER', subjects: ['events.>'] } })
      expect(await refusal({ url })).toBe(
        `MESSAGING_URL ${url}: JetStream answered: subjects overlap with an existing stream`,
      )
    })
  })
})

const drained = async (items: AsyncIterable<unknown>) => {
  for await (const _ of items);
}
