import { defineCollection, LeaseLost, ReadModelsUnavailable } from '@gantry/stores'
import {
  blobStoreContract,
  readModelsContract,
  searchContract,
  userKeysContract,
} from '@gantry/stores/testing'
import {
  checkReadModels,
  dropReadModels,
  gridFsBlobStore,
  type MongoReadModelsOptions,
  mongoReadModels,
  mongoUserKeys,
} from '@gantry/stores-mongo'
import { inspectDatabase, pausedCheckpoints } from '@gantry/stores-mongo/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Engine, Faults } from './src/engine.ts'
import { findMongo } from './src/find-mongo.ts'
import { type Counter, counters } from './src/fixtures/counters.ts'
import { forked } from './src/fixtures/forked.ts'
import { ranOn } from './src/ran-on.ts'

const eventually = (expectation: () => unknown) => vi.waitFor(expectation, { timeout: 30_000, interval: 20 })

const found = await findMongo()
if (!found.found) it.skip('MongoDB', { meta: { skipped: `there is no MongoDB: ${found.how}` } }, () => {})

describe.each(found.found ? [found] : [])('$description', ({ kind, description, start }) => {
  ranOn(description)
  describe('the contracts', () => {
    let shared: Engine
    beforeAll(async () => {
      shared = await start()
    }, 120_000)
    afterAll(() => shared.stop())

    // Indexes as on MongoDB, although the substitute server is faster without them.
    const opening = async () => {
      const open = () => mongoReadModels({ url: shared.url, indexes: true })
      const readModels = open()
      return { readModels, another: async () => open(), close: () => readModels.close() }
    }
    // More than the 200 documents of a write, and the 101 of the first batch of a cursor.
    readModelsContract(description, opening, 300)
    searchContract(description, opening)

    userKeysContract(description, async () => {
      const open = () => mongoUserKeys({ url: shared.url, suffix: '-user-keys' })
      const keys = open()
      return { keys, another: async () => open(), close: () => keys.close() }
    })

    blobStoreContract(description, async () => {
      const open = () => gridFsBlobStore({ url: shared.url })
      const blobs = open()
      return { blobs, another: async () => open(), close: () => blobs.close() }
    })
  })

  // These tests need their own server, since a server at a URL must keep its data.
  const skipped = 'needs a server that the tests start'
  describe.skipIf(kind === 'url')('its own server', { meta: { skipped } }, () => {
    let engine: Engine
    /** A database of the test. */
    let url: string
    let databases = 0
    let opened: { close(): Promise<unknown> }[]

    beforeAll(async () => {
      engine = await start()
    }, 120_000)
    beforeEach(() => {
      url = engine.url.replace('/gantry', `/gantry-${++databases}`)
      opened = []
    })
    afterEach(async () => void (await Promise.all(opened.map(store => store.close()))))
    afterAll(() => engine.stop())

    const open = (options: Partial<MongoReadModelsOptions> = {}) => {
      const readModels = mongoReadModels({ url, ...options })
      opened.push(readModels)
      return readModels
    }
    const openBlobs = () => {
      const blobs = gridFsBlobStore({ url })
      opened.push(blobs)
      return blobs
    }
    const look = () => {
      const database = inspectDatabase({ url })
      opened.push(database)
      return database
    }
    const counter = (number: number, n = number): Counter => ({ id: `c${n}`, number, by: 'the test' })
    const write = (doc: Counter, revision: number) => ({ collection: counters, id: doc.id, doc, revision })
    const faults = (): Faults => {
      if (!engine.faults) throw new Error('only a server that the tests start can fail')
      return engine.faults
    }

    it('drops read models and positions, but no blobs and no keys of users', async () => {
      const bytes = Buffer.from('image')
      await openBlobs().put('kept', bytes)
      const keys = mongoUserKeys({ url })
      opened.push(keys)
      await keys.add('user', 'key')
      const before = open()
      await before.collection(counters).put(counter(1), 0)
      await before.checkpoints.save('a.projector', '1')
      expect(await dropReadModels({ url })).toBeGreaterThan(1)
      expect(await open().collection(counters).get('c1')).toBeUndefined()
      expect(await open().checkpoints.get('a.projector')).toBeUndefined()
      expect(Buffer.from((await openBlobs().get('kept')) ?? [])).toEqual(bytes)
      expect((await keys.get('user'))?.key).toBe('key')
    })

    describe('documents', () => {
      it('have an index for every field with the id, and one for texts', async () => {
        const collection = open({ indexes: true }).collection(
          defineCollection<Counter & { tags?: string[] }>({
            ...counters,
            fields: { ...counters.fields, tags: 'strings' },
          }),
        )
        await collection.put(counter(1), 0)
        expect((await look().indexes('test.counters.v1')).sort()).toEqual([
          '_id 1',
          'doc.by 1, live 1, _id 1',
          'doc.number 1, live 1, _id 1',
          'doc.tags 1, live 1, _id 1',
          'live 1, _id 1',
          'parts 1, live 1',
          'searchableBy 1, live 1',
        ])
      })

      it('get the indexes of a dropped collection again, in this process and in others', async () => {
        let time = 0
        const here = open({ indexes: true })
        const there = open({ indexes: true, elapsed: () => time })
        await here.collection(counters).put(counter(1), 0)
        await there.collection(counters).put(counter(2), 0)
        const indexes = await look().indexes('test.counters.v1')
        await here.drop(counters)
        await there.collection(counters).put(counter(3), 0)
        expect(await look().indexes('test.counters.v1')).toEqual(['_id 1'])
        time = 60_001
        await eventually(async () => {
          expect(await there.collection(counters).count({})).toBe(1)
          expect((await look().indexes('test.counters.v1')).sort()).toEqual(indexes.sort())
        })
        await here.drop(counters)
        expect(await here.collection(counters).count({})).toBe(0)
        expect((await look().indexes('test.counters.v1')).sort()).toEqual(indexes.sort())
      })

      it('are found by text with and without indexes, regardless of the writer', async () => {
        const collections = [true, false].map(indexes => open({ indexes }).collection(counters))
        const [indexed, plain] = collections as [(typeof collections)[0], (typeof collections)[0]]
        await plain.put({ ...counter(1), by: 'a Plain writer of texts' }, 0)
        expect(await plain.count({ text: ['plain', 'xt'] })).toBe(1)
        expect(await indexed.count({ text: ['plain', 'xt'] })).toBe(1)
        await indexed.put({ ...counter(2), by: 'an indexing-writer-of-texts' }, 0)
        for (const collection of [indexed, plain, open({ indexes: false }).collection(counters)]) {
          expect(await collection.count({ text: ['TEXTS'] })).toBe(2)
          expect(await collection.count({ text: ['indexing-writer-of'] })).toBe(1)
          expect(await collection.count({ text: ['indexing-writers'] })).toBe(0)
          expect(await collection.count({ text: ['x'] })).toBe(2)
        }
      })

      it('are found by a field that became searchable, even while an older process writes', async () => {
        let time = 0
        const narrow = open({ indexes: true }).collection(
          defineCollection<Counter>({ ...counters, text: [] }),
        )
        await narrow.put(counter(1), 0)
        const wide = open({ indexes: true, elapsed: () => time }).collection(counters)
        expect(await wide.count({ text: ['test'] })).toBe(1)
        await narrow.put(counter(2), 0)
        time = 60_001
        await eventually(async () => expect(await wide.count({ text: ['test'] })).toBe(2))
      })
    })

    describe('leases', () => {
      it('expire by the monotonic clock of the waiting process', async () => {
        let time = 1_000
        const holder = open()
        const waiting = open({ elapsed: () => time })
        await holder.leases.acquire('p', 'a', 100)
        expect(await waiting.leases.acquire('p', 'b', 100)).toBeUndefined()
        time = 1_099
        expect(await waiting.leases.acquire('p', 'b', 100)).toBeUndefined()
        await holder.leases.acquire('p', 'a', 100)
        time = 1_198
        expect(await waiting.leases.acquire('p', 'b', 100)).toBeUndefined()
        time = 1_298
        expect(await waiting.leases.acquire('p', 'b', 100)).toEqual({ name: 'p', holder: 'b', token: 2 })
        expect(await holder.leases.acquire('p', 'a', 100)).toBeUndefined()
      })

      it.each([-600_000, 600_000])(
        'remain with a live holder whose clock is off by %i ms, and end with it',
        async clockIsOffByMs => {
          const child = forked('./hold-lease.ts', [url, 'p', '4000', `${clockIsOffByMs}`])
          onTestFinished(() => child.kill())
          await child.told({ lease: { name: 'p', holder: 'child', token: 1 } })
          let time = 0
          const { leases } = open({ elapsed: () => time })
          for (let turn = 0; turn < 3; turn++)
            expect(await leases.acquire('p', 'other', 4_000)).toBeUndefined()
          child.tell('of the child')
          await child.told({ saved: 'of the child' })
          child.kill()
          await eventually(async () => {
            time += 4_000
            expect(await leases.acquire('p', 'other', 4_000)).toMatchObject({ token: 2 })
          })
        },
      )

      it.each(['p', 'p.other'])(
        'fence a holder that was paused until another one took over and saved %s',
        async checkpoint => {
          const child = forked('./hold-lease.ts', [url, 'p', '500'])
          onTestFinished(() => child.kill())
          await child.told({ lease: { name: 'p', holder: 'child', token: 1 } })
          child.pause()
          const readModels = open()
          const lease = await vi.waitFor(
            async () => {
              const given = await readModels.leases.acquire('p', 'other', 60_000)
              if (!given) throw new Error('the lease runs')
              return given
            },
            { timeout: 20_000, interval: 20 },
          )
          await readModels.write([write(counter(1), 0)], { name: checkpoint, position: 'of other', lease })
          child.tell('of the child')
          child.resume()
          await child.told({ refused: 'lease p is held by another' })
          await child.told({ lost: true })
          expect(await readModels.checkpoints.get(checkpoint)).toBe('of other')
          expect(await readModels.collection(counters).list({ limit: 10 })).toEqual([
            { doc: counter(1), revision: 0 },
          ])
        },
      )

      it.each(['p', 'p.other'])('fence a holder that was paused while it saved %s', async checkpoint => {
        const { leases, checkpoints } = open()
        const lost = await leases.acquire('p', 'a', 60_000)
        if (!lost) throw new Error('the lease is not free')
        const paused = pausedCheckpoints({ url }, async () => {
          await leases.release(lost)
          const lease = await leases.acquire('p', 'b', 60_000)
          await checkpoints.save(checkpoint, 'of b', lease)
        })
        opened.push(paused)
        await expect(paused.save(checkpoint, 'of a', lost)).rejects.toThrow(LeaseLost)
        expect(await checkpoints.get(checkpoint)).toBe('of b')
      })

      it('refuse an older token in a checkpoint of another name, and the token of a lost database', async () => {
        const { leases, checkpoints } = open()
        const old = await leases.acquire('p', 'a', 60_000)
        if (!old) throw new Error('the lease is not free')
        await checkpoints.save('p.other', '1', old)
        await leases.release(old)
        await checkpoints.save('p.other', '2', old)
        const lease = await leases.acquire('p', 'b', 60_000)
        if (!lease) throw new Error('the lease is not free')
        await checkpoints.save('p.other', '3', lease)
        await expect(checkpoints.save('p.other', '4', old)).rejects.toThrow(LeaseLost)
        await expect(checkpoints.save('p.new', '1', old)).rejects.toThrow(LeaseLost)
        await expect(checkpoints.save('q', '1', { ...lease, name: 'q' })).rejects.toThrow(LeaseLost)
        await expect(checkpoints.save('p', '1', { ...lease, holder: 'a' })).rejects.toThrow(LeaseLost)
        expect(await checkpoints.get('p.other')).toBe('3')
      })
    })

    describe('when the server fails', () => {
      it('every call fails within seconds, and works again when the server is back', async () => {
        const readModels = open()
        const blobs = openBlobs()
        const collection = readModels.collection(counters)
        await collection.put(counter(1), 0)
        await blobs.put('logo', Buffer.from('png'))
        await faults().kill()

        const startedAt = performance.now()
        const calls = [
          collection.get('c1'),
          collection.getMany(['c1']),
          collection.find({ limit: 1 }),
          collection.count({ text: ['x'] }),
          collection.put(counter(2), 0),
          collection.remove('c1', 1),
          readModels.write([write(counter(2), 0)], { name: 'p', position: '1' }),
          readModels.drop(counters),
          readModels.checkpoints.get('p'),
          readModels.checkpoints.save('p', '1'),
          readModels.leases.acquire('p', 'a', 1),
          readModels.ping(),
          open().ping(),
          checkReadModels({ url }),
          blobs.put('photo', Buffer.from('jpg')),
          blobs.get('logo'),
          blobs.delete('logo'),
          blobs.keys()[Symbol.asyncIterator]().next(),
        ]
        for (const outcome of await Promise.allSettled(calls)) {
          expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(ReadModelsUnavailable) })
          const { message } = (outcome as PromiseRejectedResult).reason
          expect(message).toMatch(
            /^read models unavailable: READ_MODEL_URL mongodb:\/\/127\.0\.0\.1:\d+\/gantry-\d+: /,
          )
        }
        // The driver's default is 30 s.
        expect(performance.now() - startedAt).toBeLessThan(20_000)

        await faults().restart()
        await eventually(() => readModels.ping())
        expect(await collection.get('c1')).toEqual({ doc: counter(1), revision: 0 })
        expect(await collection.put(counter(1, 2), 0)).toBe(true)
        expect(Buffer.from((await blobs.get('logo')) ?? []).toString()).toBe('png')
      })

      it('a frozen server counts as unavailable within seconds, also for calls under way', async () => {
        const readModels = open()
        const collection = readModels.collection(counters)
        await collection.put(counter(1), 0)
        await faults().pause()
        const startedAt = performance.now()
        const calls = [collection.get('c1'), collection.put(counter(2, 1), 1), readModels.ping()]
        for (const outcome of await Promise.allSettled(calls))
          expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(ReadModelsUnavailable) })
        expect(performance.now() - startedAt).toBeLessThan(25_000)
        await faults().resume()
        await eventually(() => readModels.ping())
        expect(await collection.put(counter(3, 1), 3)).toBe(true)
      })

      it('acknowledged writes are kept, and no checkpoint is stored without its writes', async () => {
        const child = forked('./project-forever.ts', [url])
        onTestFinished(() => child.kill())
        await eventually(() => expect(child.all().length).toBeGreaterThan(30))
        await faults().kill()
        const acknowledged = (child.all().at(-1) as { acknowledged: number }).acknowledged
        await faults().restart()
        const readModels = open()
        await eventually(() => readModels.ping())
        const position = Number(await readModels.checkpoints.get('counters'))
        expect(position).toBeGreaterThanOrEqual(acknowledged)
        expect(await readModels.collection(counters).count({ where: { number: { gte: position } } })).toBe(10)
      })

      it('bytes of an unfinished upload are removed after an hour', async () => {
        vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 2 * 60 * 60 * 1000 })
        onTestFinished(() => void vi.useRealTimers())
        const before = openBlobs()
        await before.put('kept', Buffer.from('1'))
        const large = before.put('large', Buffer.alloc(40_000_000)).catch(() => {})
        await eventually(async () => expect(await look().count('blobs.chunks')).toBeGreaterThan(2))
        await faults().kill()
        await large
        await before.close()
        await faults().restart()
        vi.useRealTimers()

        const after = openBlobs()
        await eventually(() => after.get('kept'))
        expect(await after.get('large')).toBeUndefined()
        expect(await look().count('blobs.chunks')).toBeGreaterThan(2)
        await after.removeAbandoned()
        await after.put('new', Buffer.from('2'))
        expect(await look().count('blobs.chunks')).toBe(2)
        expect(await look().count('blobs.unfinished')).toBe(0)
        expect(Buffer.from((await after.get('kept')) ?? []).toString()).toBe('1')
      })
    })

    it('stores writes from before the close, and refuses calls after it', async () => {
      const readModels = open()
      const last = readModels.collection(counters).put(counter(1), 0)
      await Promise.all([readModels.close(), readModels.close()])
      expect(await last).toBe(true)
      await expect(readModels.collection(counters).get('c1')).rejects.toThrow(ReadModelsUnavailable)
      await expect(readModels.ping()).rejects.toThrow('read models unavailable: they are closed')
      expect(await open().collection(counters).count({})).toBe(1)
    })
  })
})
