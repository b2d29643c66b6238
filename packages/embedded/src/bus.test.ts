import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Bus, BusUnavailable, type Json, NoResponder } from '@gantry/messaging'
import { busContract } from '@gantry/messaging/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { COUNT_AFTER } from './bus/consumption.ts'
import { dropMessages, sqliteBus } from './bus.ts'
import { type Child, child } from './fixtures/child.ts'

busContract('SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gantry-messages-'))
  return {
    connect: async () => sqliteBus({ path: join(folder, 'messages.db') }),
    connectRetaining: async retentionMs => sqliteBus({ path: join(folder, 'messages.db'), retentionMs }),
    close: () => rm(folder, { recursive: true }),
  }
})

describe('a bus in a SQLite file', () => {
  let folder: string
  let path: string
  let bus: Bus
  const { signal } = new AbortController()

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gantry-messages-'))
    path = join(folder, 'messages.db')
    bus = sqliteBus({
      path,
      leaseMs: 300,
      redeliverAfterMs: 20,
      now: () => new Date('2026-11-21T10:00:00.123Z'),
    })
  })
  afterEach(async () => {
    await bus.close()
    await rm(folder, { recursive: true })
  })

  const publish = (...data: Json[]) =>
    bus.publish(data.map(data => ({ id: randomUUID(), subject: 'events.orders', data })))

  const consume = async (consumer: string, count: number) => {
    const handled: Json[] = []
    for await (const { message, ack } of bus.consume({ consumer, subjects: ['events.>'], signal })) {
      handled.push(message.data)
      await ack()
      if (handled.length === count) break
    }
    return handled
  }

  it('delivers to a running consumer what is published after all messages were dropped', async () => {
    await publish(1, 2)
    const handled: Json[] = []
    for await (const { message, ack } of bus.consume({ consumer: 'a', subjects: ['events.>'], signal })) {
      handled.push(message.data)
      await ack()
      if (handled.length === 2) {
        expect(dropMessages(path)).toBe(true)
        expect(dropMessages(path)).toBe(false)
        await publish(3)
      }
      if (handled.length === 3) break
    }
    expect(handled).toEqual([1, 2, 3])
  })

  it('gives a consumer to another process when the clock was set back since a killed one held it', async () => {
    await publish(1, 2)
    expect(await consume('shop', 1)).toEqual([1])
    const file = new DatabaseSync(path)
    file.exec(`UPDATE consumers SET holder = 'killed', expires_at = ${Date.now() + 3_600_000}`)
    file.close()
    expect(await consume('shop', 1)).toEqual([2])
  })

  it('counts the backlog of a consumer by the index, without the messages that it has acknowledged', async () => {
    await publish('a', 'b', 'c')
    await bus.publish([{ id: randomUUID(), subject: 'jobs.orders', data: 'd' }])
    await consume('shop', 1)
    const backlog = (subjects: string[]) => bus.backlog({ consumer: 'shop', subjects })
    expect([await backlog(['events.>']), await backlog(['jobs.*']), await backlog(['>'])]).toEqual([2, 1, 3])
    expect(await bus.backlog({ consumer: 'unknown', subjects: ['>'] })).toBe(0)
    const file = new DatabaseSync(path)
    const plan = file.prepare(`EXPLAIN QUERY PLAN ${COUNT_AFTER}`).all('events.orders', 1)
    file.close()
    expect(plan.map(({ detail }) => detail)).toEqual([
      'SEARCH messages USING COVERING INDEX messages_by_subject (subject=? AND rowid>?)',
    ])
  })

  it('reads messages of any size in order, without holding the event loop for more than a few', async () => {
    const large = 'x'.repeat(100_000)
    await publish(...Array.from({ length: 40 }, (_, number) => `${number} ${large}`))
    let turns = 0
    let counting = true
    setImmediate(function count() {
      turns++
      if (counting) setImmediate(count)
    })
    const read: number[] = []
    for await (const { data } of bus.read({ subjects: ['>'], after: 0, live: false, signal }))
      read.push(Number(String(data).split(' ')[0]))
    counting = false
    expect(read).toEqual(Array.from({ length: 40 }, (_, number) => number))
    expect(turns).toBeGreaterThanOrEqual(20)
  })

  it('delivers a message to readers and consumers only once it is durable, also one of another bus', async () => {
    const syncs: (() => void)[] = []
    const sync = Object.assign(() => new Promise<void>(resolve => syncs.push(resolve)), { async close() {} })
    const slow = sqliteBus({ path, sync })
    const turn = () => new Promise<void>(resolve => setImmediate(() => setImmediate(resolve)))
    const settled: string[] = []
    const first = async (name: string, messages: AsyncIterable<unknown>) => {
      for await (const _ of messages) {
        settled.push(name)
        return
      }
    }
    const ending = new AbortController()
    const options = { subjects: ['>'], signal: ending.signal }
    const reading = [
      first('reader', slow.read({ ...options, after: 0, live: true })),
      first('consumer', slow.consume({ ...options, consumer: 'shop' })),
    ]
    const published = slow.publish([{ id: randomUUID(), subject: 'events.orders', data: 'a' }])
    await turn()
    reading.push(first('late reader', slow.read({ ...options, after: 0, live: false })))
    const head = slow.head().then(sequence => settled.push(`head ${sequence}`))
    await turn()
    expect(settled).toEqual([])
    const syncing = setInterval(() => syncs.shift()?.(), 1)
    await Promise.all([published, head, ...reading])
    clearInterval(syncing)
    expect(settled.toSorted()).toEqual(['consumer', 'head 1', 'late reader', 'reader'])

    const other = first('of another', slow.read({ ...options, after: 1, live: true }))
    await publish('b')
    await vi.waitFor(() => expect(syncs).toHaveLength(1))
    expect(settled).not.toContain('of another')
    syncs.shift()?.()
    await other
    ending.abort()
    await slow.close()
  })

  it('delivers a message again when the consumer asks for the next one without acknowledging it', async () => {
    await publish('a', 'b')
    const given: Json[] = []
    for await (const { message, ack } of bus.consume({ consumer: 'shop', subjects: ['>'], signal })) {
      given.push(message.data)
      if (given.length > 2) await ack()
      if (given.length === 4) break
    }
    expect(given).toEqual(['a', 'a', 'a', 'b'])
  })

  it('delivers the broadcasts of several buses to all of them in the same order', async () => {
    const other = sqliteBus({ path })
    const heard = [bus, other].map(from => {
      const order: Json[] = []
      from.listen('hints.order', data => order.push(data))
      return order
    })
    const numbers = Array.from({ length: 20 }, (_, number) => number)
    await Promise.all(
      numbers.flatMap(number => [
        bus.broadcast('hints.order', `one ${number}`),
        other.broadcast('hints.order', `other ${number}`),
      ]),
    )
    await vi.waitFor(() => expect(heard.map(({ length }) => length)).toEqual([40, 40]))
    expect(heard[0]).toEqual(heard[1])
    await other.close()
  })

  it('renews the lease of a consumer while it handles a message', async () => {
    await publish('a')
    const file = new DatabaseSync(path)
    const expiry = () => Number(file.prepare('SELECT expires_at FROM consumers').get()?.expires_at)
    for await (const { ack } of bus.consume({ consumer: 'shop', subjects: ['>'], signal })) {
      for (let renewal = 0; renewal < 2; renewal++) {
        const before = expiry()
        await eventually(() => expect(expiry()).toBeGreaterThan(before))
      }
      await ack()
      break
    }
    file.close()
  })

  it('saves the position of a consumer while it passes messages on other subjects', async () => {
    await publish(...Array.from({ length: 1_500 }, (_, index) => index + 1))
    await bus.publish([{ id: randomUUID(), subject: 'events.refunds', data: 'ours' }])
    for await (const { message } of bus.consume({ consumer: 'shop', subjects: ['events.refunds'], signal })) {
      expect(message.data).toBe('ours')
      break
    }
    expect(await consume('shop', 1)).toEqual([1_001])
  })

  it('completes publications in progress on close, and is unavailable afterwards', async () => {
    const consuming = consume('shop', 2)
    const read: Json[] = []
    const reading = (async () => {
      const options = { subjects: ['>'], after: 0, live: true, signal }
      for await (const { data } of bus.read(options)) read.push(data)
    })()
    await bus.ping()
    const published = publish('a')
    await bus.close()
    await published
    await reading
    expect(await consuming).toEqual([])
    expect(read).toEqual([])

    await expect(bus.ping()).rejects.toBeInstanceOf(BusUnavailable)
    await expect(bus.last(['>'])).rejects.toBeInstanceOf(BusUnavailable)
    await expect(bus.head()).rejects.toBeInstanceOf(BusUnavailable)
    await expect(publish('b')).rejects.toBeInstanceOf(BusUnavailable)
    await expect(bus.broadcast('hints.dropped', 1)).rejects.toBeInstanceOf(BusUnavailable)
    await expect(bus.request('requests.pid', 1, { timeoutMs: 1 })).rejects.toBeInstanceOf(BusUnavailable)
    bus = sqliteBus({ path })
    expect(await consume('shop', 1)).toEqual(['a'])
  })

  describe('with another process', () => {
    let other: Child
    beforeEach(async () => {
      await publish('a', 'b')
      other = child('hold-consumer.ts', path, 'shop')
      await eventually(() => expect(other.lines()).toEqual(['got a']))
    })
    afterEach(async () => {
      other.process.kill('SIGKILL')
      await other.ended
    })

    it('exchanges broadcasts and requests', async () => {
      const heard: Json[] = []
      bus.listen('hints.done', data => heard.push(data))
      await bus.broadcast('hints.dropped', 'x')
      await eventually(() => expect(other.lines()).toEqual(['got a', 'heard x']))
      expect(await bus.request('requests.pid', null, { timeoutMs: 5_000 })).toBe(other.process.pid)

      other.process.stdin?.write('go on\n')
      await other.ended
      expect(other.lines().at(-1)).toBe('acknowledged')
      await eventually(() => expect(heard).toEqual([other.process.pid]))
      await expect(bus.request('requests.pid', null, { timeoutMs: 5_000 })).rejects.toBeInstanceOf(
        NoResponder,
      )
      expect(await consume('shop', 1)).toEqual(['b'])
    })

    it('refuses the acknowledgement of a consumer that was paused until another took over', async () => {
      other.process.kill('SIGSTOP')
      expect(await consume('shop', 2)).toEqual(['a', 'b'])
      await publish('c')
      other.process.kill('SIGCONT')
      other.process.stdin?.write('go on\n')
      await other.ended

      expect(other.lines().at(-1)).toBe('BusUnavailable')
      expect(await consume('shop', 1)).toEqual(['c'])
    })
  })
})

const eventually = (expectation: () => void) => vi.waitFor(expectation, { interval: 5 })
