import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import {
  type Collection,
  type Condition,
  type Document,
  defineCollection,
  LeaseLost,
  type Query,
  type ReadModels,
  ReadModelsUnavailable,
} from '@gantry/stores'
import { readModelsContract } from '@gantry/stores/testing'
import { afterEach, beforeEach, describe, expect, it, test, vi } from 'vitest'
import { child } from './fixtures/child.ts'
import { type Counter, counters } from './fixtures/counters.ts'
import { Statements } from './read-models/statements.ts'
import { type ReadModelsOptions, sqliteReadModels } from './read-models.ts'

const newFolder = () => mkdtemp(join(tmpdir(), 'gantry-read-models-'))

const opening = (options: Omit<ReadModelsOptions, 'path'>) => async () => {
  const folder = await newFolder()
  const open = async () => sqliteReadModels({ path: join(folder, 'read-models.db'), ...options })
  const readModels = await open()
  return {
    readModels,
    ...(!options.exclusive && { another: open }),
    async close() {
      await readModels.close()
      await rm(folder, { recursive: true })
    },
  }
}
readModelsContract('SQLite locked by one process', opening({ exclusive: true }))
// With `inMemoryBelow: 0` every collection is too large for memory.
readModelsContract('SQLite with indexes in the file', opening({ inMemoryBelow: 0 }))

interface Note extends Document {
  title: string | null
  pages: number | null
  open: boolean | null
  tags: string[] | null
}

const notes = defineCollection<Note>({
  name: 'test.notes',
  version: 1,
  fields: { title: 'string', pages: 'number', open: 'boolean', tags: 'strings' },
  text: ['title'],
})

/** Includes a character above U+FFFF, one that follows it only in UTF-16 order, an unpaired surrogate, and NUL. */
const CHARACTERS = ['a', 'B', '1', '"', '%', '\\', 'ß', 'ς', '\uff01', '\u{1f680}', '\ud83d', '\0', '\u2800']

/**
 * Pseudorandom numbers below a bound, determined by the seed. https://en.wikipedia.org/wiki/Linear_congruential_generator
 */
function randomOf(seed: number) {
  let state = seed
  const below = (bound: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
  return Object.assign(below, { one: <T>(values: readonly T[]) => values[below(values.length)] as T })
}
type RandomNumbers = ReturnType<typeof randomOf>

const randomText = (random: RandomNumbers) =>
  Array.from({ length: random(5) }, () => random.one(CHARACTERS)).join('')

const randomNote = (id: string, random: RandomNumbers): Note => ({
  id,
  title: random(6) === 0 ? null : randomText(random),
  pages: random(6) === 0 ? null : random(5) - 1.5,
  open: random.one([true, false, null]),
  tags: random(6) === 0 ? null : Array.from({ length: random(3) }, () => random.one(CHARACTERS)),
})

function randomQuery(random: RandomNumbers): Query {
  const conditions: [string, () => Condition][] = [
    [
      'title',
      () =>
        random.one<Condition>([
          null,
          randomText(random),
          { not: null },
          { gte: randomText(random) },
          { lt: randomText(random) },
          { gt: randomText(random), lte: randomText(random) },
        ]),
    ],
    [
      'pages',
      () =>
        random.one<Condition>([
          null,
          0.5,
          { in: [0.5, null] },
          { gt: -1, lte: 1.5 },
          { gte: 0.5 },
          { lt: 0.5 },
          { lt: 'a' },
          { gt: 0, lt: 'a' },
        ]),
    ],
    ['open', () => random.one<Condition>([true, false, null, { not: true }, { in: [] }])],
    [
      'tags',
      () =>
        random.one<Condition>([
          random.one(CHARACTERS),
          { all: ['a', 'B'] },
          { in: ['1', 'ß'] },
          { not: 'a' },
          null,
        ]),
    ],
  ]
  const fields = ['title', 'pages', 'open'] as const
  return {
    where: Object.fromEntries(
      conditions.filter(() => random(4) === 0).map(([field, condition]) => [field, condition()]),
    ),
    text: random(3) === 0 ? [randomText(random)] : [],
    sort: fields
      .filter(() => random(3) === 0)
      .map(field => ({ field, direction: random.one(['asc', 'desc'] as const) })),
    skip: random(3) === 0 ? random(20) : 0,
    limit: 1 + random(30),
  }
}

describe('read models in a file', () => {
  let folder: string
  let path: string
  beforeEach(async () => {
    folder = await newFolder()
    path = join(folder, 'read-models.db')
  })
  afterEach(() => rm(folder, { recursive: true }))

  const counter = (number: number, n = number): Counter => ({ id: `c${n}`, number, batch: `batch-${number}` })
  const write = (doc: Counter, revision: number) => ({ collection: counters, id: doc.id, doc, revision })

  it('refuse a write when the process was paused between the call and its execution', async () => {
    const readModels = sqliteReadModels({ path })
    const collection = readModels.collection(counters)
    const put = collection.put(counter(1), 0)
    const stopwatch = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => stopwatch() + 61_000)
    await expect(put).rejects.toThrow(ReadModelsUnavailable)
    vi.restoreAllMocks()
    expect(await collection.get('c1')).toBeUndefined()
    await readModels.close()
  })

  it('store writes that were called before close, and are unavailable afterwards', async () => {
    const readModels = sqliteReadModels({ path })
    const collection = readModels.collection(counters)
    await collection.put(counter(1), 0)
    const last = collection.put(counter(2), 0)
    await readModels.close()
    await readModels.close()
    expect(await last).toBe(true)
    const calls = [
      () => collection.get('c1'),
      () => collection.getMany(['c1']),
      () => collection.find({ limit: 1 }),
      () => collection.count({ text: ['x'] }),
      () => collection.put(counter(3), 0),
      () => collection.remove('c1', 1),
      () => readModels.write([write(counter(3), 0)]),
      () => readModels.drop(counters),
      () => readModels.checkpoints.get('p'),
      () => readModels.checkpoints.save('p', '1'),
      () => readModels.leases.acquire('p', 'a', 1),
      () => readModels.ping(),
    ]
    for (const call of calls) await expect(call()).rejects.toThrow(ReadModelsUnavailable)

    const reopened = sqliteReadModels({ path })
    expect(await reopened.collection(counters).count({})).toBe(2)
    await reopened.close()
  })

  it('include all acknowledged writes in queries while the index is loaded, extended by texts or rebuilt', async () => {
    const writer = sqliteReadModels({ path })
    const count = 1_000
    await writer.write(Array.from({ length: count }, (_, n) => write(counter(n), 0)))
    const reader = sqliteReadModels({ path })
    const collection = reader.collection(counters)
    // Each round replaces every document, so that the reader rebuilds its index after three of them.
    for (let round = 1; round <= 4; round++) {
      const answers = [
        collection.count({}),
        collection.count({ text: ['batch-'] }),
        collection.count({ where: { batch: { not: null } } }),
      ]
      const puts = Array.from({ length: count }, (_, n) => write(counter(round * count + n, n), round))
      await writer.write(puts.slice(0, count / 2))
      await writer.write(puts.slice(count / 2))
      expect(await Promise.all(answers)).toEqual([count, count, count])
      const number = round * count + 17
      expect(await collection.find({ where: { number }, text: [`h-${number}`], limit: 10 })).toEqual({
        items: [{ doc: counter(number, 17), revision: round }],
        total: 1,
      })
      expect(await collection.count({ where: { number: { lt: round * count } } })).toBe(0)
      const [last] = await collection.list({ sort: [{ field: 'number', direction: 'desc' }], limit: 1 })
      expect(last?.doc).toEqual(counter(number - 17 + count - 1, count - 1))
    }
    await reader.close()
    await writer.close()
  })

  it('are read in one state from memory and from the file, and keep what a killed process wrote together', async () => {
    const stores = [1_000, 0].map(inMemoryBelow => sqliteReadModels({ path, inMemoryBelow }))
    const writer = child('project-forever.ts', path, '0')
    for (const readModels of stores) {
      const collection = readModels.collection(counters)
      const seen = new Set<number>()
      while (seen.size < 10) {
        // Lets this process read the output of the writer, which stops when nobody reads it.
        await setImmediate()
        const { items, total } = await collection.find({ limit: 1_000 })
        expect(total).toBe(items.length)
        const numbers = new Set(items.map(({ doc }) => doc.number))
        expect(numbers.size).toBeLessThanOrEqual(1)
        for (const number of numbers) {
          seen.add(number)
          expect(await collection.count({ where: { number: { gte: number } } })).toBe(10)
        }
      }
    }
    writer.process.kill('SIGKILL')
    await writer.ended
    const acknowledged = Number(writer.lines().at(-1))
    for (const readModels of stores) {
      const collection = readModels.collection(counters)
      const position = Number(await readModels.checkpoints.get('counters'))
      expect(position).toBeGreaterThanOrEqual(acknowledged)
      expect(await collection.count({ where: { number: position } })).toBe(10)
      expect(await collection.count({ text: [`batch-${position}`] })).toBe(10)
      expect(await collection.count({})).toBe(10)
      await readModels.close()
    }
  })

  it('written by a process without indexes in the file are in the next query of one that has them', async () => {
    const older = sqliteReadModels({ path, inMemoryBelow: 1_000 })
    await older.write(Array.from({ length: 300 }, (_, n) => write(counter(n), 0)))
    const newer = sqliteReadModels({ path, inMemoryBelow: 0 })
    const lists = newer.collection(counters)
    expect(await lists.count({ text: ['batch-29'] })).toBe(11)
    await older.write([write(counter(1_000, 29), 1), { ...write(counter(290), 1), doc: null }])
    await newer.write([write(counter(1_001, 30), 1)])
    await older.write([write(counter(1_002, 31), 1)])
    expect(await lists.count({ text: ['batch-29'] })).toBe(9)
    expect(
      (await lists.list({ where: { number: { gte: 1_000 } }, limit: 10 })).map(({ doc }) => doc.id),
    ).toEqual(['c29', 'c30', 'c31'])
    expect(await lists.count({})).toBe(299)
    await newer.close()
    await older.close()
  })

  it('are indexed again in the file when tombstones were forgotten before the index applied them', async () => {
    const open = (inMemoryBelow: number) => sqliteReadModels({ path, inMemoryBelow })
    const numbers = async (store: ReadModels) =>
      (await store.collection(counters).list({ limit: 10, sort: [] })).map(({ doc }) => doc.number)
    const first = open(0)
    for (const n of [1, 2, 3]) await first.collection(counters).put(counter(n, n), 0)
    expect(await first.collection(counters).count({ where: { number: 1 } })).toBe(1)
    expect(await numbers(first)).toEqual([1, 2, 3])

    const withoutIndex = open(1_000)
    const collection = withoutIndex.collection(counters)
    await collection.remove('c1', 1)
    await collection.put(counter(4, 4), 0)
    expect(await collection.forgetRemoved(0)).toBe(0)
    expect(await collection.forgetRemoved(0)).toBe(1)
    await withoutIndex.close()

    for (const store of [first, open(0)]) {
      expect(await store.collection(counters).count({ where: { number: 1 } })).toBe(0)
      expect(await numbers(store)).toEqual([2, 3, 4])
      expect(await store.collection(counters).count({})).toBe(3)
      await store.close()
    }
  })

  it('of a collection that outgrows memory are complete in queries while its index moves into the file', async () => {
    const lines: string[] = []
    const readModels = sqliteReadModels({
      path,
      exclusive: true,
      inMemoryBelow: 1_000,
      log: message => lines.push(message),
    })
    const collection = readModels.collection(counters)
    for (let n = 0; n < 3_000; n += 100) {
      await readModels.write(Array.from({ length: 100 }, (_, index) => write(counter(n + index), 0)))
      expect(await collection.count({ text: ['batch'] })).toBe(n + 100)
    }
    expect(lines).toEqual([
      'test.counters has 1000 documents or more: its index moves from memory into the file',
    ])
    await readModels.close()
    // Later writes update the index in their own transaction, before any query.
    const reopened = sqliteReadModels({ path, exclusive: true, inMemoryBelow: 1_000 })
    await reopened.write([write(counter(3_001), 0)])
    await reopened.collection(counters).put(counter(3_002), 0)
    await reopened.close()
    const file = new DatabaseSync(path)
    expect(file.prepare('SELECT count(*) AS rows FROM index_1_rows').get()).toEqual({ rows: 3_002 })
    file.close()

    const shrunk = sqliteReadModels({ path, exclusive: true, inMemoryBelow: 10_000 })
    await shrunk.write([write(counter(3_003), 0)])
    expect(await shrunk.collection(counters).count({ text: ['batch'] })).toBe(3_003)
    await shrunk.close()
  })

  it('of a collection with `listedBy` are indexed in the file, however few they are', async () => {
    const growing = { ...counters, listedBy: 'number' }
    const readModels = sqliteReadModels({ path, exclusive: true })
    await readModels.write([{ ...write(counter(1), 0), collection: growing }])
    await readModels.collection(growing).put(counter(2), 0)
    await readModels.close()
    const file = new DatabaseSync(path)
    expect(file.prepare('SELECT count(*) AS rows FROM index_1_rows').get()).toEqual({ rows: 2 })
    file.close()
  })

  it('of a time are the same from memory and from the file, also after changes', async () => {
    interface Shift extends Document {
      from: number
      to: number
      crew: string
      tools: string[]
    }
    const shifts = defineCollection<Shift>({
      name: 'test.shifts',
      version: 1,
      fields: { from: 'number', to: 'number', crew: 'string', tools: 'strings' },
      text: ['crew'],
      validity: { from: 'from', to: 'to' },
    })
    const shift = (n: number, ends = n + 2_500): Shift => ({
      id: `s${n}`,
      from: n,
      to: ends,
      crew: `crew-${n % 3}`,
      tools: n % 1_000 === 0 ? ['crane'] : [],
    })
    const stores = [0, 100_000].map((inMemoryBelow, n) => {
      const path = join(folder, `shifts-${n}.db`)
      const readModels = sqliteReadModels({ path, inMemoryBelow, indexWaitMs: 60_000 })
      return { readModels, collection: readModels.collection(shifts) }
    })
    const at = (time: number, where = {}, text: string[] = []): Query => ({
      where: { from: { lte: time }, to: { gt: time }, ...where },
      text,
      sort: [{ field: 'crew', direction: 'desc' }],
      limit: 5,
    })
    const queries = [0, 2_000, 2_499, 4_000, 6_499, 6_500].flatMap(time => [
      at(time),
      at(time, { crew: 'crew-1' }),
      at(time, { tools: { all: ['crane'] } }),
      at(time, {}, ['w-2']),
    ])
    const found = ({ collection }: (typeof stores)[0]) =>
      Promise.all(queries.map(query => collection.find(query)))
    const totals = []
    for (const change of [
      Array.from({ length: 4_000 }, (_, n) => ({ doc: shift(n), revision: 0 })),
      Array.from({ length: 300 }, (_, n) => ({ doc: shift(n * 13, n * 13 + 9), revision: 1 })),
    ]) {
      const writes = change.map(({ doc, revision }) => ({ collection: shifts, id: doc.id, doc, revision }))
      for (const { readModels } of stores) await readModels.write(writes)
      const [file, memory] = await Promise.all(stores.map(found))
      expect(file).toEqual(memory)
      totals.push(file?.map(({ total }) => total))
    }
    expect(totals[0]?.slice(0, 16)).toEqual([
      1, 0, 1, 0, 2_001, 667, 3, 667, 2_500, 833, 3, 833, 2_499, 833, 2, 833,
    ])
    expect(totals[1]).not.toEqual(totals[0])
    for (const { readModels } of stores) await readModels.close()
  })

  it('of a collection with `validity` move to the file when it outgrows memory, also without a query', async () => {
    const valid = { ...counters, validity: { from: 'number', to: 'number' } }
    const readModels = sqliteReadModels({ path, inMemoryBelow: 1_000 })
    const rows = () => {
      const file = new DatabaseSync(path)
      const { indexed } = file
        .prepare("SELECT count(*) AS indexed FROM sqlite_schema WHERE name = 'index_1_rows'")
        .get() as { indexed: number }
      const count = indexed && file.prepare('SELECT count(*) AS rows FROM index_1_rows').get()?.rows
      file.close()
      return count
    }
    const store = (from: number, count: number) =>
      readModels.write(
        Array.from({ length: count }, (_, n) => ({ ...write(counter(from + n), 0), collection: valid })),
      )
    await store(0, 500)
    expect(rows()).toBe(0)
    await store(500, 1_000)
    await vi.waitFor(() => expect(rows()).toBe(1_500))
    await readModels.close()
  })

  it('of a collection that outgrew memory between two queries are not loaded into memory', async () => {
    const lines: string[] = []
    const readModels = sqliteReadModels({ path, inMemoryBelow: 1_000, log: message => lines.push(message) })
    const lists = readModels.collection(counters)
    expect(await lists.count({})).toBe(0)
    await readModels.write(Array.from({ length: 3_000 }, (_, n) => write(counter(n), 0)))
    expect(await lists.count({ text: ['batch-29'] })).toBe(111)
    expect(lines).toHaveLength(1)
    await readModels.close()
    const file = new DatabaseSync(path)
    expect(file.prepare('SELECT count(*) AS rows FROM index_1_rows').get()).toEqual({ rows: 3_000 })
    file.close()
  })

  it.each([
    ['loaded into memory', 10_000],
    ['built in the file', 0],
  ])('refuse a query as unavailable while its index is %s', async (_, inMemoryBelow) => {
    const before = sqliteReadModels({ path, inMemoryBelow: 10_000 })
    await before.write(Array.from({ length: 3_000 }, (_, n) => write(counter(n), 0)))
    await before.close()
    const readModels = sqliteReadModels({ path, inMemoryBelow, indexWaitMs: 0 })
    const collection = readModels.collection(counters)
    await expect(collection.list({ limit: 1 })).rejects.toThrow(ReadModelsUnavailable)
    await expect(collection.count({ text: ['batch'] })).rejects.toThrow(/the index of test.counters is being/)
    expect(await collection.get('c7')).toEqual({ doc: counter(7), revision: 0 })
    await vi.waitFor(async () => expect(await collection.count({ text: ['batch'] })).toBe(3_000))
    await readModels.close()
  })

  it('give the same results for random queries from memory and from the file', async () => {
    const random = randomOf(Number(process.env.SEED ?? 20_261_122))
    const stores = [1_000_000, 0].map((inMemoryBelow, n) =>
      sqliteReadModels({ path: `${path}-${n}`, exclusive: true, inMemoryBelow }),
    )
    const [memory, file] = stores.map(store => store.collection(notes)) as [
      Collection<Note>,
      Collection<Note>,
    ]
    for (let round = 1; round <= 60; round++) {
      const writes = Array.from({ length: random(40) }, () => {
        const id = `${random.one(CHARACTERS)}${random(60)}`
        return {
          collection: notes,
          id,
          doc: random(5) === 0 ? null : randomNote(id, random),
          revision: round,
        }
      })
      for (const store of stores) await store.write(writes)
      if (round === 40) for (const store of stores) await store.drop(notes)
      for (let asked = 0; asked < 4; asked++) {
        const query = randomQuery(random)
        const expected = await memory.find(query)
        expect(await file.find(query), JSON.stringify(query)).toEqual(expected)
        expect(await file.list({ ...query, limit: 3 })).toEqual(await memory.list({ ...query, limit: 3 }))
      }
    }
    for (const store of stores) await store.close()
  })

  it('write nothing of a batch when its lease is lost', async () => {
    let time = 0
    const readModels = sqliteReadModels({ path, now: () => new Date(time) })
    const lease = await readModels.leases.acquire('p', 'a', 100)
    time = 100
    await readModels.leases.acquire('p', 'b', 100)
    const batch = readModels.write([write(counter(1), 0)], { name: 'p', position: '1', lease })
    const alone = readModels.collection(counters).put(counter(2), 0)
    await expect(batch).rejects.toThrow(LeaseLost)
    expect(await alone).toBe(true)
    expect((await readModels.collection(counters).list({ limit: 10 })).map(({ doc }) => doc.id)).toEqual([
      'c2',
    ])
    await readModels.close()
  })

  it('purge names of removed documents from the index in the file, with their trigrams', async () => {
    const people = defineCollection<{ id: string; name: string }>({
      name: 'test.people',
      version: 1,
      fields: { name: 'string' },
      text: ['name'],
      listedBy: 'name',
    })
    const readModels = sqliteReadModels({ path, inMemoryBelow: 1 })
    const collection = readModels.collection(people)
    for (const [id, name] of Object.entries({ a: 'Ada', b: 'Zebedee Quux', c: 'Grace' }))
      await collection.put({ id, name }, 0)
    expect(await collection.count({ text: ['quux'] })).toBe(1)
    await collection.remove('b', 1)
    await readModels.purge()
    expect(await collection.count({ text: ['quux'] })).toBe(0)
    expect(await collection.count({ text: ['grace'] })).toBe(1)
    expect((await readFile(path, 'latin1')).toLowerCase()).not.toContain('zebedee')
    const file = new DatabaseSync(path)
    const [{ number } = { number: 0 }] = file.prepare('SELECT number FROM indexes').all() as {
      number: number
    }[]
    file.exec(`CREATE VIRTUAL TABLE temp.terms USING fts5vocab (main, index_${number}_texts, row)`)
    const terms = file.prepare("SELECT term FROM temp.terms WHERE term IN ('zeb', 'quu', 'gra')").all()
    file.close()
    expect(terms).toEqual([{ term: 'gra' }])
    await readModels.close()
  })

  it('give a lease to one holder until it expires, and renew it while no other holder has acquired it', async () => {
    let time = 1_000
    const { leases, close } = sqliteReadModels({ path, now: () => new Date(time) })
    const first = await leases.acquire('p', 'a', 100)
    expect(first).toEqual({ name: 'p', holder: 'a', token: 1 })
    time = 1_099
    expect(await leases.acquire('p', 'b', 100)).toBeUndefined()
    expect(await leases.acquire('p', 'a', 100)).toEqual(first)
    time = 1_198
    expect(await leases.acquire('p', 'b', 100)).toBeUndefined()
    time = 5_000
    expect(await leases.acquire('p', 'a', 100)).toEqual(first)
    time = 5_100
    expect(await leases.acquire('p', 'b', 100)).toEqual({ name: 'p', holder: 'b', token: 2 })
    await leases.release({ name: 'p', holder: 'b', token: 2 })
    expect(await leases.acquire('p', 'b', 100)).toEqual({ name: 'p', holder: 'b', token: 3 })
    await close()
  })

  it('give a lease to another holder when the clock was set back since it was acquired', async () => {
    let time = 3_600_000
    const { leases, close } = sqliteReadModels({ path, now: () => new Date(time) })
    await leases.acquire('p', 'killed', 100)
    time = 0
    expect(await leases.acquire('p', 'next', 100)).toMatchObject({ holder: 'next', token: 2 })
    expect(await leases.acquire('p', 'third', 100)).toBeUndefined()
    await close()
  })

  it('keep the documents of the previous version of a collection, and of none before it', async () => {
    const version = (number: number) => defineCollection<Counter>({ ...counters, version: number })
    const readModels = sqliteReadModels({ path })
    for (const number of [1, 2, 3]) await readModels.collection(version(number)).put(counter(number), 0)
    await readModels.close()
    const reopened = sqliteReadModels({ path })
    expect(await reopened.collection(version(3)).count({})).toBe(1)
    expect(await reopened.collection(version(2)).count({})).toBe(1)
    expect(await reopened.collection(version(1)).count({})).toBe(0)
    await reopened.close()
  })

  it('refuse pages and terms outside of their range', async () => {
    const readModels = sqliteReadModels({ path })
    const outside = [{ limit: 0 }, { limit: 1_001 }, { limit: 1.5 }, { limit: 1, skip: -1 }]
    for (const query of [...outside, { limit: 1, text: ['two words'] }]) {
      await expect(readModels.collection(counters).find(query)).rejects.toThrow(RangeError)
      await expect(readModels.collection(counters).list(query)).rejects.toThrow(RangeError)
    }
    await readModels.close()
  })
})

test('a row is an object also after the same SQL returned slots', () => {
  const db = new DatabaseSync(':memory:')
  const statements = new Statements(db)
  const sql = 'SELECT 7 AS slot'
  expect(statements.slots(sql)).toEqual([7])
  expect(statements.get(sql)).toEqual({ slot: 7 })
  expect(statements.slots(sql)).toEqual([7])
  db.close()
})
