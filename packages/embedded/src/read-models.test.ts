import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import {
  type Condition,
  type Document,
  defineCollection,
  foldCase,
  LeaseLost,
  type Query,
  type ReadModels,
  ReadModelsUnavailable,
} from '@gantry/stores'
import { readModelsContract, searchContract } from '@gantry/stores/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { child } from './fixtures/child.ts'
import { type Counter, counters } from './fixtures/counters.ts'
import { documentTable } from './read-models/document-table.ts'
import { mergingTrigrams } from './read-models/index-tables.ts'
import { Kept } from './read-models/kept-values.ts'
import { Lists } from './read-models/lists.ts'
import { ReadModelsFile } from './read-models/read-models-file.ts'
import {
  dropReadModels,
  type ReadModelsOptions,
  sqliteReadModelStore,
  sqliteReadModels,
} from './read-models.ts'
import { watchDisk } from './sqlite/disk.ts'

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
readModelsContract('SQLite shared by processes', opening({}))
searchContract('SQLite locked by one process', opening({ exclusive: true }))
searchContract('SQLite shared by processes', opening({}))

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
  tags:
    random(6) === 0 ? null : [...new Set(Array.from({ length: random(3) }, () => random.one(CHARACTERS)))],
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

/** The documents of a query, found by reading all of them. */
function naively(
  stored: ReadonlyMap<string, Note>,
  { where = {}, text = [], sort = [], skip = 0, limit }: Query,
) {
  const folded = ({ title }: Note) => foldCase(title ?? '')
  const matching = [...stored.values()].filter(
    note =>
      Object.entries(where).every(([field, condition]) => holds(note[field as 'title'], condition)) &&
      text.every(term => folded(note).includes(foldCase(term))),
  )
  const backwards = sort[0]?.direction === 'desc' ? -1 : 1
  const order = matching.sort((a, b) => {
    for (const { field, direction } of sort) {
      const difference = compare(a[field as 'title'], b[field as 'title'])
      if (difference !== 0) return direction === 'desc' ? -difference : difference
    }
    return compare(a.id, b.id) * backwards
  })
  return { items: order.slice(skip, skip + limit), total: order.length }
}

type Value = string | number | boolean | null

const compare = (a: Value, b: Value) => (a === b ? 0 : a === null || (b !== null && a < b) ? -1 : 1)

function holds(value: Value | string[], condition: Condition): boolean {
  const has = (sought: Value) => (Array.isArray(value) ? value.includes(sought as string) : value === sought)
  if (condition === null || typeof condition !== 'object') return has(condition)
  if ('in' in condition) return condition.in.some(has)
  if ('all' in condition) return condition.all.every(has)
  if ('not' in condition) return !has(condition.not)
  const within = (bound: Value | undefined, holds: (difference: number) => boolean) =>
    bound === undefined || (typeof value === typeof bound && holds(compare(value as Value, bound)))
  const { gt, gte, lt, lte } = condition
  return (
    within(gt, d => d > 0) && within(gte, d => d >= 0) && within(lt, d => d < 0) && within(lte, d => d <= 0)
  )
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
  /** As an earlier release declared it. */
  const former = defineCollection<Counter>({ ...counters, fields: { number: 'number' } })
  const write = (doc: Counter, revision: number) => ({ collection: counters, id: doc.id, doc, revision })

  it.skipIf(process.platform !== 'linux')(
    'write few bytes per document of a transaction, copies of pages for a rollback included',
    async () => {
      const names = Array.from({ length: 24 }, (_, n) => `field${n}`)
      const fields = Object.fromEntries(names.map(name => [name, 'number' as const]))
      const wide = defineCollection<Document>({ name: 'test.wide', version: 1, fields })
      const readModels = sqliteReadModels({ path })
      await readModels.collection(wide).count({})
      const written = () => Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))?.[1])
      const before = written()
      await readModels.write(
        Array.from({ length: 500 }, (_, n) => {
          const doc = { id: `w${n}`, ...Object.fromEntries(names.map((name, of) => [name, (n * of) % 499])) }
          return { collection: wide, id: doc.id, doc, revision: 0 }
        }),
      )
      expect((written() - before) / 500).toBeLessThan(10_000)
      await readModels.close()
    },
  )

  it('leave turns of the event loop to other work during a large write, and save its checkpoint at the end', async () => {
    const readModels = sqliteReadModels({ path })
    const writes = Array.from({ length: 2_000 }, (_, n) => write(counter(n), 0))
    const collection = readModels.collection(counters)
    const partly = new Set<number>()
    let going = true
    const written = readModels.write(writes, { name: 'p', position: '1' }).finally(() => (going = false))
    while (going) {
      await setImmediate()
      const position = await readModels.checkpoints.get('p')
      const count = await collection.count({})
      if (position !== undefined) expect(count).toBe(writes.length)
      partly.add(count)
    }
    await written
    expect(partly.size).toBeGreaterThan(2)
    expect(await collection.count({})).toBe(writes.length)
    expect(await readModels.checkpoints.get('p')).toBe('1')
    await readModels.close()
  })

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

  it('include all acknowledged writes in queries while the index is built', async () => {
    const writer = sqliteReadModels({ path })
    const count = 1_000
    const put = (number: number, n: number, revision: number) => ({
      ...write(counter(number, n), revision),
      collection: former,
    })
    await writer.write(Array.from({ length: count }, (_, n) => put(n, n, 0)))
    const reader = sqliteReadModels({ path })
    const collection = reader.collection(counters)
    for (let round = 1; round <= 3; round++) {
      const answers = [
        collection.count({}),
        collection.count({ text: ['batch-'] }),
        collection.count({ where: { batch: { not: null } } }),
      ]
      const puts = Array.from({ length: count }, (_, n) => put(round * count + n, n, round))
      await writer.write(puts.slice(0, count / 2))
      await writer.write(puts.slice(count / 2))
      expect(await Promise.all(answers)).toEqual([count, count, count])
      const number = round * count + 17
      expect(await collection.find({ where: { number }, text: [`h-${number}`], limit: 10 })).toEqual({
        items: [{ doc: counter(number, 17), revision: round }],
        total: 1,
      })
      expect(await collection.count({ where: { number: { lt: round * count } } })).toBe(0)
    }
    await reader.close()
    await writer.close()
  })

  it('are read in one state, and keep what a killed process wrote together', async () => {
    const readModels = sqliteReadModels({ path })
    const collection = readModels.collection(counters)
    const writer = child('project-forever.ts', path)
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
    writer.process.kill('SIGKILL')
    await writer.ended
    const acknowledged = Number(writer.lines().at(-1))
    const position = Number(await readModels.checkpoints.get('counters'))
    expect(position).toBeGreaterThanOrEqual(acknowledged)
    expect(await collection.count({ where: { number: position } })).toBe(10)
    expect(await collection.count({ text: [`batch-${position}`] })).toBe(10)
    expect(await collection.count({})).toBe(10)
    await readModels.close()
  })

  it('written by a process of another release are in the next query', async () => {
    const older = sqliteReadModels({ path })
    const writeOf = (doc: Counter, revision: number) => ({ ...write(doc, revision), collection: former })
    await older.write(Array.from({ length: 300 }, (_, n) => writeOf(counter(n), 0)))
    const newer = sqliteReadModels({ path })
    const lists = newer.collection(counters)
    expect(await lists.count({ text: ['batch-29'] })).toBe(11)
    await older.write([writeOf(counter(1_000, 29), 1), { ...writeOf(counter(290), 1), doc: null }])
    await newer.write([write(counter(1_001, 30), 1)])
    await older.write([writeOf(counter(1_002, 31), 1)])
    expect(await lists.count({ text: ['batch-29'] })).toBe(9)
    expect(
      (await lists.list({ where: { number: { gte: 1_000 } }, limit: 10 })).map(({ doc }) => doc.id),
    ).toEqual(['c29', 'c30', 'c31'])
    expect(await lists.count({})).toBe(299)
    await newer.close()
    await older.close()
  })

  it('are indexed again when tombstones were forgotten before the index applied them', async () => {
    const open = () => sqliteReadModels({ path })
    const numbers = async (store: ReadModels) =>
      (await store.collection(counters).list({ limit: 10, sort: [] })).map(({ doc }) => doc.number)
    const first = open()
    for (const n of [1, 2, 3]) await first.collection(counters).put(counter(n, n), 0)
    expect(await first.collection(counters).count({ where: { number: 1 } })).toBe(1)
    expect(await numbers(first)).toEqual([1, 2, 3])

    const withoutIndex = open()
    const collection = withoutIndex.collection(former)
    await collection.remove('c1', 1)
    await collection.put(counter(4, 4), 0)
    expect(await collection.forgetRemoved(0)).toBe(0)
    expect(await collection.forgetRemoved(0)).toBe(1)
    await withoutIndex.close()

    for (const store of [first, open()]) {
      expect(await store.collection(counters).count({ where: { number: 1 } })).toBe(0)
      expect(await numbers(store)).toEqual([2, 3, 4])
      expect(await store.collection(counters).count({})).toBe(3)
      await store.close()
    }
  })

  it('refuse a query as unavailable while its index is built', async () => {
    const before = sqliteReadModels({ path })
    await before.write(
      Array.from({ length: 3_000 }, (_, n) => ({ ...write(counter(n), 0), collection: former })),
    )
    await before.close()
    const readModels = sqliteReadModels({ path, indexWaitMs: 0 })
    const collection = readModels.collection(counters)
    await expect(collection.list({ limit: 1 })).rejects.toThrow(ReadModelsUnavailable)
    await expect(collection.count({ text: ['batch'] })).rejects.toThrow(/the index of test.counters is being/)
    expect(await collection.get('c7')).toEqual({ doc: counter(7), revision: 0 })
    await vi.waitFor(async () => expect(await collection.count({ text: ['batch'] })).toBe(3_000))
    await readModels.close()
  })

  it('include all writes on a full disk, and keep nothing of what was rolled back then', async () => {
    const file = new ReadModelsFile({ path, exclusive: false, disk: watchDisk() })
    const table = documentTable(file.db, counters, false)
    let isFull = true
    const lists: Lists = new Lists(
      file.db,
      table,
      { ...counters, text: [] },
      {
        ...file,
        write: job =>
          isFull ? Promise.reject(new ReadModelsUnavailable('the disk is full')) : file.write(job),
        kept: new Kept(),
        listsOf: () => lists,
        indexWaitMs: 5_000,
        log() {},
      },
    )
    const store = (n: number, batch: string, revision: number) =>
      table.store({
        id: `c${n}`,
        revision,
        doc: JSON.stringify({ ...counter(n), batch }),
        overSame: false,
        incomplete: false,
      })
    const batches = async () => (await lists.facet({}, 'batch', 10)).map(({ value }) => value)
    store(1, 'first', 0)
    store(2, 'second', 0)
    expect(await batches()).toEqual(['first', 'second'])
    expect(file.db.prepare('SELECT count(*) AS rows FROM index_1_rows').get()).toEqual({ rows: 0 })
    store(1, 'third', 1)
    isFull = false
    // The second document is now the first one in the index.
    expect(await batches()).toEqual(['second', 'third'])
    file.close()
  })

  it('keep at most the limit in bytes of former queries, texts included, but always those of the last ones', async () => {
    const file = new ReadModelsFile({ path, exclusive: true, disk: watchDisk() })
    const table = documentTable(file.db, counters, true)
    const kept = new Kept(100_000)
    const definition = { ...counters, text: [] }
    const lists: Lists = new Lists(file.db, table, definition, {
      ...file,
      kept,
      listsOf: () => lists,
      indexWaitMs: 60_000,
      log() {},
    })
    await file.write(() => {
      for (let n = 0; n < 2_000; n++) {
        const doc = JSON.stringify({ ...counter(n), batch: `${n}`.padStart(1_000, '0') })
        table.store({ id: `c${n}`, revision: 0, doc, overSame: false, incomplete: false })
      }
    })
    const first = [{ value: '0'.repeat(1_000), count: 1 }]
    expect(await lists.facet({}, 'batch', 1)).toEqual(first)
    expect(kept.bytes).toBeGreaterThan(2_000 * 1_000)
    for (let n = 0; n < 50; n++) expect(await lists.count({ where: { number: { gte: n } } })).toBe(2_000 - n)
    expect(kept.bytes).toBeGreaterThan(50_000)
    expect(kept.bytes).toBeLessThan(100_000)
    expect(await lists.facet({}, 'batch', 1)).toEqual(first)
    file.close()
  })

  it('answer random queries as by reading all documents, also from another process and after changes', async () => {
    const random = randomOf(Number(process.env.SEED ?? 20_261_122))
    const [writer, reader] = [sqliteReadModels({ path }), sqliteReadModels({ path, indexWaitMs: 60_000 })]
    const collection = reader.collection(notes)
    const stored = new Map<string, Note>()
    for (let round = 1; round <= 30; round++) {
      // Enough documents that selections are kept, at first also that rows are read in several slices.
      const length = round === 1 ? 20_000 : round === 16 ? 3_000 : random(40)
      const writes = Array.from({ length }, () => {
        const id = `${random.one(CHARACTERS).toWellFormed()}${random(length > 5_000 ? 2_000 : 400)}`
        const doc = random(5) === 0 ? null : randomNote(id, random)
        if (doc) stored.set(id, doc)
        else stored.delete(id)
        return { collection: notes, id, doc, revision: round }
      })
      const latest = [...new Map(writes.map(write => [write.id, write])).values()]
      await writer.write(latest)
      for (let asked = 0; asked < 6; asked++) {
        const wide = {
          where: random.one<Query['where']>([{}, { open: null }]),
          text: [],
          skip: random(stored.size),
        }
        const query = { ...randomQuery(random), ...(asked < 2 && wide) }
        const { items, total } = naively(stored, query)
        const found = await collection.find(query)
        expect({ ...found, items: found.items.map(({ doc }) => doc) }, JSON.stringify(query)).toEqual({
          items,
          total,
        })
        expect((await collection.list(query)).map(({ doc }) => doc)).toEqual(items)
        const facet = await collection.facet(query, 'tags', 3)
        const all = naively(stored, { ...query, skip: 0, limit: stored.size }).items
        const tags = Map.groupBy(
          all.flatMap(({ tags }) => tags ?? []),
          tag => tag,
        )
        const counts = [...tags].map(([value, { length: count }]) => ({ value, count }))
        expect(facet).toEqual(
          counts.sort((a, b) => b.count - a.count || compare(a.value, b.value)).slice(0, 3),
        )
      }
      if (round === 15) {
        await writer.drop(notes)
        stored.clear()
      }
    }
    await reader.close()
    await writer.close()
  })

  const labels = defineCollection<{ id: string; text: string }>({
    name: 'labels',
    version: 1,
    fields: {},
    search: { fields: { text: { weight: 1, words: 3 } } },
  })
  const pages = defineCollection<{ id: string; of: string; text: string }>({
    name: 'pages',
    version: 1,
    fields: { of: 'string' },
    search: labels.search as NonNullable<typeof labels.search>,
  })

  it('find by words of more describing documents than one turn of the event loop reads', async () => {
    const readModels = sqliteReadModels({ path, exclusive: true })
    const labelled = { collection: labels, id: '7', doc: { id: '7', text: 'plain' }, revision: 0 }
    const described = Array.from({ length: 10_500 }, (_, n) => {
      const id = String(n)
      return { collection: pages, id, doc: { id, of: id, text: n < 9 ? 'amber' : '' }, revision: 0 }
    })
    await readModels.write([labelled, ...described])
    const query = { search: { q: 'amber', described: [{ by: pages, field: 'of' }] }, limit: 10 }
    const { items } = await readModels.collection(labels).find(query)
    expect(items.map(({ doc }) => doc.id)).toEqual(['7'])
    await readModels.close()
  })

  it('find by words what either process stored last, before and after the words are in the file', async () => {
    const random = randomOf(Number(process.env.SEED ?? 20_261_127))
    const both = [sqliteReadModels({ path }), sqliteReadModels({ path })]
    const stored = { labels: new Map<string, string>(), pages: new Map<string, string>() }
    const unknown = Array.from({ length: 2_100 }, (_, n) => {
      return { collection: labels, id: `unknown ${n}`, doc: null, revision: 0 }
    })
    const WORDS = ['amber', 'birch', 'cedar', 'dates', 'elder']
    for (let round = 1; round <= 60; round++) {
      const length = round % 20 === 0 ? 1_500 : random(60)
      const writes = Array.from({ length }, () => {
        const id = String(random(300))
        const [name, collection] = random.one([['labels', labels] as const, ['pages', pages] as const])
        const text = random(4) === 0 ? undefined : `${random.one(WORDS)} ${random.one(WORDS)}`
        if (text) stored[name].set(id, text)
        else stored[name].delete(id)
        return { collection, id, doc: text ? { id, of: id, text } : null, revision: round }
      })
      const latest = [
        ...new Map(writes.map(write => [`${write.collection.name} ${write.id}`, write])).values(),
      ]
      await random.one(both).write(latest)
      if (round === 30) await both[0]?.write(unknown)
      const q = random.one(WORDS)
      const has = (name: keyof typeof stored, id: string) => stored[name].get(id)?.includes(q)
      const expected = [...stored.labels.keys()].filter(id => has('labels', id) || has('pages', id))
      const query = { search: { q, described: [{ by: pages, field: 'of' }] }, limit: 1_000 }
      const found = await random.one(both).collection(labels).find(query)
      expect(found.items.map(({ doc }) => doc.id).toSorted()).toEqual(expected.toSorted())
    }
    for (const readModels of both) await readModels.close()
  })

  it('continue deep pages in descending order with the documents that lack the value', async () => {
    const readModels = sqliteReadModels({ path })
    const numbers = Array.from({ length: 3_000 }, (_, n) => (n < 1_200 ? n : null))
    await readModels.write(
      numbers.map((pages, n) => {
        const doc = { id: `n${n}`, title: null, pages, open: null, tags: null }
        return { collection: notes, id: doc.id, doc, revision: 0 }
      }),
    )
    const query: Query = { sort: [{ field: 'pages', direction: 'desc' }], skip: 1_190, limit: 20 }
    const { items } = await readModels.collection(notes).find(query)
    const lowest = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, ...Array(10).fill(null)]
    expect(items.map(({ doc }) => doc.pages)).toEqual(lowest)
    await readModels.close()
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
    })
    const readModels = sqliteReadModels({ path })
    const collection = readModels.collection(people)
    const others = Array.from({ length: 200 }, (_, n) => [
      `n${n}`,
      `Grace ${Math.sqrt(n).toString(30)} ${Math.cbrt(n).toString(30)}`,
    ])
    for (const [id = '', name = ''] of [['a', 'Ada'], ['b', 'Zebedee Quux'], ...others])
      await collection.put({ id, name }, 0)
    expect(await collection.count({ text: ['quux'] })).toBe(1)
    await collection.put({ id: 'c', name: 'Cleo' }, 0)
    await collection.remove('b', 1)
    expect(await collection.count({ text: ['quux'] })).toBe(0)
    const file = new DatabaseSync(path)
    const trigrams = file.prepare(
      "SELECT count(*) AS pages FROM index_1_trigrams_data WHERE instr(block, CAST('zeb' AS BLOB))",
    )
    expect(mergingTrigrams(file, 1)()).toBe(true)
    // The process that merged has ended.
    expect(trigrams.get()).toEqual({ pages: 1 })
    await readModels.purge()
    expect((await readFile(path, 'latin1')).toLowerCase()).not.toContain('zebedee')
    expect(await collection.count({ text: ['quux'] })).toBe(0)
    expect(await collection.count({ text: ['grace'] })).toBe(200)
    expect(trigrams.get()).toEqual({ pages: 0 })
    file.close()
    await readModels.close()
  })

  it('purge names from the indexes that no process has opened since it started, also of former shapes', async () => {
    type Person = { id: string; name: string }
    const former = defineCollection<Person>({ name: 'test.people', version: 1, fields: {}, text: ['name'] })
    const current = defineCollection<Person>({ ...former, fields: { name: 'string' } })
    const before = sqliteReadModels({ path })
    await before.collection(current).put({ id: 'b', name: 'Zebedee Quux' }, 0)
    for (const people of [former, current])
      expect(await before.collection(people).count({ text: ['quux'] })).toBe(1)
    await before.collection(current).remove('b', 1)
    await before.close()
    const readModels = sqliteReadModels({ path })
    await readModels.purge()
    expect((await readFile(path, 'latin1')).toLowerCase().includes('zebedee')).toBe(false)
    for (const people of [former, current]) expect(await readModels.collection(people).count({})).toBe(0)
    await readModels.close()
  })

  it('delete an index in pieces when its collection is discarded, also after another process began to', async () => {
    const readModels = sqliteReadModelStore({ path })
    await readModels.write(Array.from({ length: 1_000 }, (_, n) => write(counter(n), 0)))
    expect(await readModels.collection(counters).count({})).toBe(1_000)
    const file = new DatabaseSync(path)
    const rows = () => Number(file.prepare('SELECT count(*) AS rows FROM index_1_rows').get()?.rows)
    const discarded = readModels.discard(counters).catch(error => error)
    while (rows() === 1_000) await setImmediate()
    await readModels.close()
    expect(await discarded).toBeInstanceOf(ReadModelsUnavailable)
    expect(rows()).toBeGreaterThan(0)
    const reopened = sqliteReadModelStore({ path })
    await reopened.discard(counters)
    expect(file.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'index_1%'").all()).toEqual([])
    file.close()
    await reopened.close()
  })

  it('list nothing of documents that were deleted from the file, or dropped while no process had it open', async () => {
    const ids = async (readModels: ReadModels) =>
      (await readModels.collection(counters).list({ limit: 10 })).map(({ doc }) => doc.id)
    const readModels = sqliteReadModels({ path })
    await readModels.collection(counters).put(counter(1), 0)
    expect(await ids(readModels)).toEqual(['c1'])
    const file = new DatabaseSync(path)
    file.exec('DELETE FROM documents_1')
    file.close()
    expect(await ids(readModels)).toEqual([])
    await readModels.close()
    expect(await dropReadModels(path)).toBe(true)
    const reopened = sqliteReadModels({ path })
    expect(await ids(reopened)).toEqual([])
    await reopened.close()
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
