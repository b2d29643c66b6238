import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Bus, BusUnavailable, type Json } from '@gantry/messaging'
import { busContract } from '@gantry/messaging/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { COUNT_AFTER } from './bus/messages.ts'
import { sqliteBus } from './bus.ts'
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
    bus = sqliteBus({ path, now: () => new Date('2026-11-21T10:00:00.123Z') })
  })
  afterEach(async () => {
    await bus.close()
    await rm(folder, { recursive: true })
  })

  const publish = (...data: Json[]) =>
    bus.publish(data.map(data => ({ id: randomUUID(), subject: 'events.orders', data })))

  it('counts the messages after a sequence by the index', async () => {
    await publish('a', 'b', 'c')
    await bus.publish([{ id: randomUUID(), subject: 'jobs.orders', data: 'd' }])
    const backlog = (subjects: string[]) => bus.backlog({ reader: 'shop', subjects, after: 1 })
    expect([await backlog(['events.>']), await backlog(['jobs.*']), await backlog(['>'])]).toEqual([2, 1, 3])
    const file = new DatabaseSync(path)
    const plan = file.prepare(`EXPLAIN QUERY PLAN ${COUNT_AFTER}`).all('events.orders', 1)
    file.close()
    expect(plan.map(({ detail }) => detail)).toEqual([
      'SEARCH messages USING COVERING INDEX messages_by_subject (subject=? AND rowid>?)',
    ])
  })

  it('reads no messages on other subjects up to the next one, and continues with later ones', async () => {
    await publish(...Array.from({ length: 1_500 }, (_, index) => index + 1))
    await bus.publish([{ id: randomUUID(), subject: 'events.refunds', data: 'ours' }])
    const file = new DatabaseSync(path)
    // A reader that reads these messages fails.
    file.exec(
      "UPDATE messages SET data = 'no JSON', subject = 'events.others' WHERE sequence BETWEEN 251 AND 1500",
    )
    file.close()
    const read: Json[] = []
    for await (const { data } of bus.read({ subjects: ['events.refunds'], after: 0, live: true, signal })) {
      read.push(data)
      if (data === 'ours') await bus.publish([{ id: randomUUID(), subject: 'events.refunds', data: 'later' }])
      else break
    }
    expect(read).toEqual(['ours', 'later'])
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

  it('gives a message to readers only once it is durable, also one of another bus', async () => {
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
    const reading = [first('reader', slow.read({ ...options, after: 0, live: true }))]
    const published = slow.publish([{ id: randomUUID(), subject: 'events.orders', data: 'a' }])
    await turn()
    reading.push(first('late reader', slow.read({ ...options, after: 0, live: false })))
    const head = slow.head().then(sequence => settled.push(`head ${sequence}`))
    await turn()
    expect(settled).toEqual([])
    const syncing = setInterval(() => syncs.shift()?.(), 1)
    await Promise.all([published, head, ...reading])
    clearInterval(syncing)
    expect(settled.toSorted()).toEqual(['head 1', 'late reader', 'reader'])

    const other = first('of another', slow.read({ ...options, after: 1, live: true }))
    await publish('b')
    await vi.waitFor(() => expect(syncs).toHaveLength(1))
    expect(settled).not.toContain('of another')
    syncs.shift()?.()
    await other
    ending.abort()
    await slow.close()
  })

  it('wakes readers and listeners of its own without a poll', async () => {
    await bus.close()
    bus = sqliteBus({ path, polls: false })
    const read: Json[] = []
    const reading = (async () => {
      for await (const { data } of bus.read({ subjects: ['>'], after: 0, live: true, signal }))
        read.push(data)
    })()
    const heard: Json[] = []
    bus.listen('hints.order', data => heard.push(data))
    for (const data of ['a', 'b']) {
      await publish(data)
      await bus.broadcast('hints.order', data)
      await vi.waitFor(() => expect([read.at(-1), heard.at(-1)]).toEqual([data, data]))
    }
    await bus.close()
    await reading
    bus = sqliteBus({ path })
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

  it('completes publications in progress on close, and is unavailable afterwards', async () => {
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
    expect(read).toEqual([])

    await expect(bus.ping()).rejects.toBeInstanceOf(BusUnavailable)
    await expect(bus.last(['>'])).rejects.toBeInstanceOf(BusUnavailable)
    await expect(bus.head()).rejects.toBeInstanceOf(BusUnavailable)
    await expect(publish('b')).rejects.toBeInstanceOf(BusUnavailable)
    await expect(bus.broadcast('hints.dropped', 1)).rejects.toBeInstanceOf(BusUnavailable)
    bus = sqliteBus({ path })
    expect(await bus.last(['>'])).toMatchObject({ data: 'a' })
  })

  describe('with another process', () => {
    let other: Child
    beforeEach(async () => {
      other = child('other-bus.ts', path)
      await eventually(() => expect(other.lines()).toEqual(['ready']))
    })
    afterEach(async () => {
      other.process.kill('SIGKILL')
      await other.ended
    })

    it('exchanges broadcasts', async () => {
      const heard: Json[] = []
      bus.listen('hints.done', data => heard.push(data))
      await bus.broadcast('hints.dropped', 'x')
      await eventually(() => expect(other.lines()).toEqual(['ready', 'heard x']))

      other.process.stdin?.write('go on\n')
      await other.ended
      await eventually(() => expect(heard).toEqual([other.process.pid]))
    })
  })
})

const eventually = (expectation: () => void) => vi.waitFor(expectation, { interval: 5 })
