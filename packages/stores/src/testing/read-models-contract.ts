import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it, type TestContext, vi } from 'vitest'
import {
  type Collection,
  type Condition,
  type Document,
  defineCollection,
  type Filter,
  type Query,
  type Sort,
  type Stored,
  UnknownField,
  type Write,
} from '../collection.ts'
import { storedGenerations } from '../generations.ts'
import { LeaseLost, type ReadModels } from '../read-models.ts'

/** A store that can contain other collections, checkpoints and leases, before and during the test. */
export interface OpenedReadModels {
  readModels: ReadModels
  /** Opens a second connection to the same store, as from another process. */
  another?: () => Promise<ReadModels>
  close(): Promise<void>
}

interface Book extends Document {
  title?: string | null
  blurb?: string | null
  genre?: string | null
  pages?: number | null
  inPrint?: boolean | null
  tags?: string[] | null
  chapters?: { name: string; text: string; notes?: { page: number; text: string }[] }[]
  publishedAt?: string | null
  author?: { name?: string | null; born?: number } | null
}

const booksOf = (name: string, version = 1) =>
  defineCollection<Book>({
    name,
    version,
    fields: {
      title: 'string',
      genre: 'string',
      pages: 'number',
      inPrint: 'boolean',
      tags: 'strings',
      publishedAt: 'string',
      'author.name': 'string',
    },
    text: ['title', 'blurb'],
  })

const A_MINUTE = 60_000

/**
 * Tests every guarantee of the ReadModels port. Each test uses unique names, so a shared server can be used.
 * @param many more documents than the store reads, writes or deletes at once, at least 300
 */
export function readModelsContract(name: string, open: () => Promise<OpenedReadModels>, many = 1_500): void {
  describe(`${name} as read models`, () => {
    let opened: OpenedReadModels
    let readModels: ReadModels
    /** A name that no other test uses, for collections, checkpoints and leases. */
    let unused: string
    let definition: ReturnType<typeof booksOf>
    let books: Collection<Book>
    let others: ReadModels[]

    beforeEach(async () => {
      opened = await open()
      readModels = opened.readModels
      unused = `contract.${randomUUID().replaceAll('-', '')}`
      definition = booksOf(unused)
      books = readModels.collection(definition)
      others = []
    })
    afterEach(async () => {
      for (const other of others) await other.close()
      await opened.close()
    })

    /** Another connection to the store; skips the test when the store only has one. */
    const another = async (context: TestContext): Promise<ReadModels> => {
      if (!opened.another) context.skip('this store has one connection')
      const other = (await opened.another?.()) as ReadModels
      others.push(other)
      return other
    }

    const write = (id: string, revision: number, doc: Omit<Book, 'id'> | null): Write => ({
      collection: definition,
      id,
      doc: doc && { id, ...doc },
      revision,
    })
    const fill = (...documents: Book[]) => readModels.write(documents.map(doc => write(doc.id, 0, doc)))

    /** Ids of the found documents, in order; asserts that find, list and count agree. */
    const idsOf = async (query: Filter & Partial<Query>, collection = books): Promise<string[]> => {
      const whole: Query = { limit: 1_000, ...query }
      const { items, total } = await collection.find(whole)
      expect(await collection.list(whole)).toEqual(items)
      expect(await collection.count(query)).toBe(total)
      if (!query.skip && !query.limit) expect(items).toHaveLength(total)
      return items.map(({ doc }) => doc.id)
    }

    describe('the facet of a field', () => {
      it('has its values among the documents of a filter, the most frequent first', async () => {
        await fill(
          { id: 'a', title: 'Ä 🙂', genre: 'crime', tags: ['x', 'y'], inPrint: true, pages: 2 },
          { id: 'b', title: 'B', genre: 'crime', tags: ['y'], inPrint: false, author: { name: 'Zoë' } },
          { id: 'c', title: 'Ä 🙂', genre: 'art', tags: ['"z\n'], inPrint: true, author: { name: 'Zoë' } },
          { id: 'd', title: 'D', genre: null, tags: [], inPrint: null },
        )
        await readModels.write([
          write('d', 1, null),
          write('b', 1, { title: 'B', genre: 'poetry', tags: ['y'] }),
        ])
        const facet = async (field: string, filter: Filter = {}, limit = 10) =>
          (await books.facet(filter, field, limit)).map(({ value, count }) => [value, count])
        expect(await facet('genre')).toEqual([
          ['art', 1],
          ['crime', 1],
          ['poetry', 1],
        ])
        expect(await facet('tags')).toEqual([
          ['y', 2],
          ['"z\n', 1],
          ['x', 1],
        ])
        expect(await facet('tags', {}, 1)).toEqual([['y', 2]])
        expect(await facet('title')).toEqual([
          ['Ä 🙂', 2],
          ['B', 1],
        ])
        expect(await facet('inPrint')).toEqual([[true, 2]])
        expect(await facet('pages')).toEqual([[2, 1]])
        expect(await facet('author.name')).toEqual([['Zoë', 1]])
        expect(await facet('tags', { where: { genre: 'crime' } })).toEqual([
          ['x', 1],
          ['y', 1],
        ])
        expect(await facet('tags', { where: { tags: { all: ['x'] } }, text: ['ä'] })).toEqual([
          ['x', 1],
          ['y', 1],
        ])
        expect(await facet('tags', { text: ['nothing'] })).toEqual([])
        await expect(books.facet({}, 'blurb', 1)).rejects.toThrow(UnknownField)
      })
    })

    describe('a document', () => {
      it('is returned as it was put, with its revision, and does not exist before', async () => {
        const doc = {
          id: 'zoë/1 $x.%"',
          title: 'Zoë 🙂 "\\',
          pages: -12.5,
          inPrint: false,
          tags: [],
          genre: null,
          author: { name: 'N', born: 0 },
          editions: [{ year: 1999, notes: [null, true, ''] }, {}],
        }
        expect(await books.get(doc.id)).toBeUndefined()
        expect(await books.getMany([doc.id])).toEqual([])
        expect(await idsOf({})).toEqual([])
        expect(await books.put(doc, 7)).toBe(true)
        expect(await books.get(doc.id)).toEqual({ doc, revision: 7 })
        expect(await books.getMany([doc.id])).toEqual([{ doc, revision: 7 }])
        expect(await books.find({ limit: 1 })).toEqual({ items: [{ doc, revision: 7 }], total: 1 })
        expect(await books.list({ limit: 1 })).toEqual([{ doc, revision: 7 }])
      })

      it('is returned once by getMany, which leaves out ids without a document', async () => {
        await fill({ id: 'b1', pages: 1 }, { id: 'b2', pages: 2 }, { id: 'b3', pages: 3 })
        const found = await books.getMany(['b3', 'b9', 'b1', 'b3'])
        expect(found.toSorted((a, b) => (a.doc.id < b.doc.id ? -1 : 1))).toEqual([
          { doc: { id: 'b1', pages: 1 }, revision: 0 },
          { doc: { id: 'b3', pages: 3 }, revision: 0 },
        ])
        expect(await books.getMany([])).toEqual([])
      })

      it('is stored without undefined fields', async () => {
        await books.put({ id: 'b1', title: undefined, pages: 1 }, 0)
        expect(Object.keys((await books.get('b1'))?.doc ?? {}).sort()).toEqual(['id', 'pages'])
      })

      it('does not change when the object that was put or found is modified', async () => {
        const doc: Book = { id: 'b1', tags: ['a'], author: { name: 'N' } }
        await books.put(doc, 0)
        doc.tags?.push('put')
        const change = (found: Stored<Book> | undefined) => {
          try {
            found?.doc.tags?.push('found')
          } catch {
            // Frozen documents pass the test too.
          }
        }
        change(await books.get('b1'))
        change((await books.list({ limit: 1 }))[0])
        expect(await books.get('b1')).toEqual({
          doc: { id: 'b1', tags: ['a'], author: { name: 'N' } },
          revision: 0,
        })
      })

      it('is replaced completely by one of a newer revision, and of no other', async () => {
        await books.put({ id: 'b1', title: 'Old', genre: 'poems' }, 1)
        expect(await books.put({ id: 'b1', title: 'New' }, 3)).toBe(true)
        expect(await books.get('b1')).toEqual({ doc: { id: 'b1', title: 'New' }, revision: 3 })
        expect(await idsOf({ where: { title: 'Old' } })).toEqual([])
        expect(await idsOf({ where: { genre: 'poems' } })).toEqual([])
        expect(await idsOf({ text: ['old'] })).toEqual([])
        expect(await books.put({ id: 'b1', title: 'Same' }, 3)).toBe(false)
        expect(await books.put({ id: 'b1', title: 'Older' }, 2)).toBe(false)
        expect(await books.get('b1')).toEqual({ doc: { id: 'b1', title: 'New' }, revision: 3 })
        expect(await idsOf({ where: { title: 'New' }, text: ['new'] })).toEqual(['b1'])
      })

      it('is removed by the same or a newer revision, and by no older one', async () => {
        await fill({ id: 'b1', title: 'One' }, { id: 'b2', title: 'Two' }, { id: 'b3', title: 'Three' })
        expect(await books.remove('b1', 0)).toBe(true)
        expect(await books.remove('b2', 5)).toBe(true)
        await books.put({ id: 'b3', title: 'Three' }, 3)
        expect(await books.remove('b3', 2)).toBe(false)
        expect(await books.get('b1')).toBeUndefined()
        expect(await books.getMany(['b1', 'b2'])).toEqual([])
        expect(await idsOf({})).toEqual(['b3'])
        expect(await idsOf({ where: { title: { in: ['One', 'Two'] } } })).toEqual([])
        expect(await idsOf({ where: { title: { not: 'Three' } } })).toEqual([])
        expect(await idsOf({ where: { title: null } })).toEqual([])
        expect(await idsOf({ text: ['o'] })).toEqual([])
      })

      it('that was removed is only stored again with a newer revision', async () => {
        await books.put({ id: 'b1' }, 3)
        await books.remove('b1', 5)
        expect(await books.put({ id: 'b1' }, 4)).toBe(false)
        expect(await books.put({ id: 'b1' }, 5)).toBe(false)
        expect(await books.get('b1')).toBeUndefined()
        expect(await books.count({})).toBe(0)
        expect(await books.put({ id: 'b1', title: 'Again' }, 6)).toBe(true)
        expect(await books.get('b1')).toEqual({ doc: { id: 'b1', title: 'Again' }, revision: 6 })
        expect(await books.count({})).toBe(1)
      })

      it('that was removed before it was put keeps the newest revision when it is removed again', async () => {
        expect(await books.remove('b1', 5)).toBe(true)
        expect(await books.remove('b1', 4)).toBe(false)
        expect(await books.put({ id: 'b1' }, 5)).toBe(false)
        expect(await books.remove('b1', 5)).toBe(true)
        expect(await books.remove('b1', 7)).toBe(true)
        expect(await books.put({ id: 'b1' }, 6)).toBe(false)
      })

      it('and its tombstone are returned by latest with their revisions', async context => {
        const other = (await another(context)).collection(definition)
        expect(await books.latest('b1')).toBeUndefined()
        await books.put({ id: 'b1', title: 'One' }, 3)
        const live = { doc: { id: 'b1', title: 'One' }, revision: 3 }
        expect(await books.latest('b1')).toEqual(live)
        expect(await other.latest('b1')).toEqual(live)
        await books.remove('b1', 5)
        expect(await books.latest('b1')).toEqual({ doc: null, revision: 5 })
        expect(await other.latest('b1')).toEqual({ doc: null, revision: 5 })
        expect(await other.put({ id: 'b1', title: 'Again' }, 6)).toBe(true)
        expect(await books.latest('b1')).toEqual({ doc: { id: 'b1', title: 'Again' }, revision: 6 })
        await books.remove('b2', 2)
        expect(await books.latest('b2')).toEqual({ doc: null, revision: 2 })
      })

      it('has the newest of many revisions that are put concurrently', async () => {
        const revisions = [4, 9, 0, 7, 2, 8, 1, 6, 3, 5]
        const stored = await Promise.all(
          revisions.map(revision => books.put({ id: 'b1', pages: revision }, revision)),
        )
        expect(stored[1]).toBe(true)
        expect(await books.get('b1')).toEqual({ doc: { id: 'b1', pages: 9 }, revision: 9 })
        expect(await books.count({})).toBe(1)
      })
    })

    describe('a filter', () => {
      const emma: Book = {
        id: 'emma',
        title: 'Emma',
        genre: 'novel',
        pages: 474,
        inPrint: true,
        tags: ['regency', 'love'],
        publishedAt: '1815-12-23T00:00:00.000Z',
        author: { name: 'Austen' },
      }
      const faust: Book = {
        id: 'faust',
        title: 'Faust',
        genre: 'play',
        pages: 9,
        inPrint: false,
        tags: ['love', 'devil', '1'],
        publishedAt: '1808-01-01T00:00:00.000Z',
        author: { name: 'Goethe' },
      }
      const odes: Book = {
        id: 'odes',
        title: 'odes',
        genre: null,
        pages: 0,
        inPrint: null,
        tags: [],
        publishedAt: null,
        author: { name: null },
      }
      const stub: Book = { id: 'stub' }
      const zorn: Book = {
        id: 'zorn',
        title: '9',
        genre: 'novel',
        pages: 50,
        inPrint: true,
        tags: ['Love'],
        publishedAt: '1977-05-01T12:00:00.000Z',
        author: null,
      }
      const all = ['emma', 'faust', 'odes', 'stub', 'zorn']

      const cases: [guarantee: string, where: Record<string, Condition>, ids: string[]][] = [
        ['a string', { genre: 'novel' }, ['emma', 'zorn']],
        ['a string with the same case only', { title: 'emma' }, []],
        ['a whole string only', { title: 'Emm' }, []],
        ['a string that no document has', { genre: 'essay' }, []],
        ['a number', { pages: 9 }, ['faust']],
        ['zero, which is not null', { pages: 0 }, ['odes']],
        ['no number by a string', { pages: '9' }, []],
        ['no string by a number', { title: 9 }, []],
        ['true', { inPrint: true }, ['emma', 'zorn']],
        ['false, which is not null', { inPrint: false }, ['faust']],
        ['null, which a missing field satisfies', { genre: null }, ['odes', 'stub']],
        ['null in a number field', { pages: null }, ['stub']],
        ['null in a boolean field', { inPrint: null }, ['odes', 'stub']],
        ['null in an array field, which an empty array is not', { tags: null }, ['stub']],
        ['an item of an array', { tags: 'love' }, ['emma', 'faust']],
        ['an item of an array, compared as a whole', { tags: 'lov' }, []],
        ['several items of one array', { tags: { all: ['love', 'devil'] } }, ['faust']],
        ['several items that no single array has', { tags: { all: ['love', 'Love'] } }, []],
        ['everything by an empty list of items', { tags: { all: [] } }, all],
        ['a dotted path', { 'author.name': 'Goethe' }, ['faust']],
        ['null at a dotted path with missing parts', { 'author.name': null }, ['odes', 'stub', 'zorn']],
        ['one of several', { genre: { in: ['play', 'novel', 'essay'] } }, ['emma', 'faust', 'zorn']],
        ['one of several numbers', { pages: { in: [0, 50] } }, ['odes', 'zorn']],
        ['one of several and null', { genre: { in: ['play', null] } }, ['faust', 'odes', 'stub']],
        ['nothing by one of an empty list', { genre: { in: [] } }, []],
        ['one of several items of an array', { tags: { in: ['devil', 'Love'] } }, ['faust', 'zorn']],
        ['everything except a string', { genre: { not: 'novel' } }, ['faust', 'odes', 'stub']],
        ['everything except a number', { pages: { not: 0 } }, ['emma', 'faust', 'stub', 'zorn']],
        ['everything except a boolean', { inPrint: { not: true } }, ['faust', 'odes', 'stub']],
        ['everything except null', { genre: { not: null } }, ['emma', 'faust', 'zorn']],
        ['arrays without an item', { tags: { not: 'love' } }, ['odes', 'stub', 'zorn']],
        ['greater numbers', { pages: { gt: 9 } }, ['emma', 'zorn']],
        ['greater or equal numbers', { pages: { gte: 9 } }, ['emma', 'faust', 'zorn']],
        ['smaller numbers', { pages: { lt: 50 } }, ['faust', 'odes']],
        ['smaller or equal numbers', { pages: { lte: 50 } }, ['faust', 'odes', 'zorn']],
        ['numbers between two bounds', { pages: { gt: 0, lte: 50 } }, ['faust', 'zorn']],
        ['nothing in an empty range of numbers', { pages: { gt: 50, lt: 50 } }, []],
        [
          'numbers in a range with an undefined bound',
          { pages: { gte: 50, lt: undefined } },
          ['emma', 'zorn'],
        ],
        ['strings by code unit', { title: { gt: '9', lt: 'a' } }, ['emma', 'faust']],
        ['strings from a lower bound', { title: { gte: 'Faust' } }, ['faust', 'odes']],
        ['strings up to an upper bound', { title: { lte: 'Emma' } }, ['emma', 'zorn']],
        [
          'timestamps in a range',
          { publishedAt: { gte: '1808-01-01T00:00:00.000Z', lt: '1815-12-23T00:00:00.000Z' } },
          ['faust'],
        ],
        ['timestamps before another, which null is not', { publishedAt: { lt: '1810' } }, ['faust']],
        ['no number by a range of strings', { pages: { gte: '0' } }, []],
        ['no string by a range of numbers', { title: { lte: 1_000 } }, []],
        ['no string by a range of numbers with one bound', { title: { gte: 0 } }, []],
        ['a range at a dotted path', { 'author.name': { lt: 'B' } }, ['emma']],
        [
          'documents that satisfy all conditions',
          { genre: 'novel', inPrint: true, tags: 'love', pages: { gt: 100 } },
          ['emma'],
        ],
        ['nothing when one of the conditions is not satisfied', { genre: 'novel', inPrint: false }, []],
        ['everything without conditions', {}, all],
      ]

      it('finds exactly the documents that satisfy it', async () => {
        await fill(emma, faust, odes, stub, zorn)
        for (const [what, where, ids] of cases) expect.soft(await idsOf({ where }), what).toEqual(ids)
      })

      it('compares numbers beyond 32 bits, and fractions, with small ones', async () => {
        const time = Date.parse('2026-11-21T10:00:00.000Z')
        const numbers = [
          -time,
          -(2 ** 31),
          -0.5,
          0,
          0.25,
          7,
          2 ** 31,
          2 ** 32 + 1,
          time,
          Number.MAX_SAFE_INTEGER,
        ]
        await fill(...numbers.map((pages, n) => ({ id: `n${n}`, pages })))
        for (const [n, pages] of numbers.entries()) {
          expect((await books.get(`n${n}`))?.doc.pages).toBe(pages)
          expect(await idsOf({ where: { pages } })).toEqual([`n${n}`])
          expect(await idsOf({ where: { pages: { lt: pages } } })).toHaveLength(n)
          expect(await idsOf({ where: { pages: { gte: pages } } })).toHaveLength(numbers.length - n)
        }
        const sort: Sort[] = [{ field: 'pages', direction: 'asc' }]
        expect(await idsOf({ sort })).toEqual(numbers.map((_, n) => `n${n}`))
      })

      it('accepts a list of 1,500 values', async () => {
        await fill(...Array.from({ length: 20 }, (_, n) => ({ id: `m${n}`, title: `t${n * 100}`, pages: n })))
        const titles = Array.from({ length: 1_500 }, (_, n) => `t${n}`)
        const wanted = Array.from({ length: 15 }, (_, n) => `m${n}`).sort()
        expect(await idsOf({ where: { title: { in: titles } } })).toEqual(wanted)
        const ids = Array.from({ length: 1_500 }, (_, n) => `m${n + 5}`)
        expect(await books.getMany(ids)).toHaveLength(15)
      })

      it('reflects later changes', async () => {
        await fill(emma, faust, odes, stub, zorn)
        expect(await idsOf({ where: { genre: 'novel' } })).toEqual(['emma', 'zorn'])
        await books.put({ ...faust, genre: 'novel', pages: 475 }, 1)
        await books.put({ ...zorn, genre: null }, 1)
        await books.remove('odes', 1)
        expect(await idsOf({ where: { genre: 'novel' } })).toEqual(['emma', 'faust'])
        expect(await idsOf({ where: { genre: 'play' } })).toEqual([])
        expect(await idsOf({ where: { genre: null } })).toEqual(['stub', 'zorn'])
        expect(await idsOf({ where: { genre: { not: 'novel' } } })).toEqual(['stub', 'zorn'])
        expect(await idsOf({ where: { pages: { gt: 474 } } })).toEqual(['faust'])
        expect(await idsOf({ where: { tags: 'love' } })).toEqual(['emma', 'faust'])
      })

      it('on a field that is not declared is refused, and so is an order by it', async () => {
        await books.put({ id: 'b1', author: { name: 'N', born: 1 } }, 0)
        for (const field of ['subtitle', 'id', 'author', 'author.born', 'blurb', 'toString']) {
          await expect(books.find({ where: { [field]: 1 }, limit: 1 })).rejects.toThrow(UnknownField)
          await expect(books.list({ where: { [field]: 1 }, limit: 1 })).rejects.toThrow(UnknownField)
          await expect(books.count({ where: { [field]: 1 } })).rejects.toThrow(UnknownField)
          const sort: Sort[] = [{ field, direction: 'asc' }]
          await expect(books.find({ sort, limit: 1 })).rejects.toThrow(UnknownField)
          await expect(books.list({ sort, limit: 1 })).rejects.toThrow(UnknownField)
        }
      })
    })

    describe('a text search', () => {
      const texts: Book[] = [
        { id: 'a', title: 'Payment Gateway', blurb: 'Charges cards; see https://pay.example/v2.1/docs.' },
        { id: 'b', title: 'pay_ments-v2', blurb: null },
        { id: 'c', title: 'Émile', blurb: 'ÀÉÎ, Straße ΟΔΟΣ and ЖИЗНЬ' },
        {
          id: 'd',
          title: '100% [sure] (maybe)',
          blurb: 'a*b "quoted" back\\slash \'single\' ^caret$ a|b {2} c++?',
        },
        { id: 'e', title: 'Rocket 🚀 to 東京タワー', blurb: '👩‍🚀' },
        { id: 'f', title: 'x', blurb: 'gate' },
        { id: 'g', title: null, genre: 'payment' },
        { id: 'h', title: 'NOT A OR near', blurb: 'tab\tbed and line\nbreak' },
        { id: 'i', title: '§\\|§§§', blurb: '££££\\|\\|££££\0££ \0££' },
      ]
      /** For each list of ids, the single terms that find exactly these documents. */
      const single: Record<string, string[]> = {
        a: ['payment', 'PAYMENT', 'v2.1', 'example/v2.1/d', 'docs.', '.', '://'],
        'a b': ['pay', 'ment'],
        b: ['ments', '_', 'y_m', '-', '-v2'],
        '': ['paymentgateway', 'zz', 'emile', '%%', '.*', '\\d', 'c+?', '🙂', 'tabbed', '§\\|££', '£\0£££'],
        'a f': ['gate', 'x', 'X'],
        'a b d': ['ay', 'y'],
        d: [
          'q',
          '%',
          '0%',
          '[',
          '[sure]',
          '(',
          '(may',
          ')',
          '*',
          'a*b',
          '"',
          '"quoted"',
          'k\\s',
          "'single'",
          '^',
          '$',
          '{2}',
          'c++',
          '?',
        ],
        c: ['é', 'É', 'émILE', 'Àé', 'STRAße', 'жизнь', 'δοσ', 'ΟΔΟΣ'],
        'a b c d e f h': ['e'],
        'd i': ['\\', '|'],
        e: ['🚀', '👩', '京', '東京', '東京タ'],
        h: ['not', 'or', 'near', 'tab', 'break'],
        'd h': ['b'],
        i: ['\\|', '\\|§', '§\\|§', '££££\\|\\|££', '\\|££££\0££', '\0', '\0££', '£\0££', '££££\0££'],
        'a b c d e f g h i': [''],
      }
      const several: [terms: string[], ids: string][] = [
        [['yment', 'charge'], 'a'],
        [['cards', 'gateway'], 'a'],
        [['payment', 'nothing'], ''],
        [['pay', 'v2'], 'a b'],
        [[], 'a b c d e f g h i'],
        [['', 'gate'], 'a f'],
      ]

      it('finds exactly the texts that contain all terms', async () => {
        await fill(...texts)
        const cases = Object.entries(single).flatMap(([ids, terms]) =>
          terms.map(term => [[term], ids] as const),
        )
        for (const [text, ids] of [...cases, ...several])
          expect.soft((await idsOf({ text: [...text] })).join(' '), JSON.stringify(text)).toBe(ids)
      })

      it('finds no term across two fields', async () => {
        await fill({ id: 'a', title: 'left', blurb: 'right' }, { id: 'b', title: 'leftright', blurb: null })
        expect(await idsOf({ text: ['leftright'] })).toEqual(['b'])
        expect(await idsOf({ text: ['tr'] })).toEqual(['b'])
        expect(await idsOf({ text: ['left', 'right'] })).toEqual(['a', 'b'])
      })

      it('also finds documents with a value that stands for a term', async () => {
        await fill(
          { id: 'a', title: 'Red cat', tags: ['x'] },
          { id: 'b', title: 'Blue dog', tags: ['cats', 'x'] },
          { id: 'c', title: 'Grey dog', tags: ['cat'] },
        )
        const textAs = { field: 'tags', values: { cat: ['cats', 'y'], it: ['cats'], dog: [] } }
        expect(await idsOf({ text: ['cat'], textAs })).toEqual(['a', 'b'])
        expect(await idsOf({ text: ['it'], textAs })).toEqual(['b'])
        expect(await idsOf({ text: ['cat', 'dog'], textAs })).toEqual(['b'])
        expect(await idsOf({ where: { tags: 'x' }, text: ['cat', 'red'], textAs })).toEqual(['a'])
        await books.put({ id: 'c', title: 'Grey dog', tags: ['y'] }, 1)
        expect(await idsOf({ text: ['cat'], textAs })).toEqual(['a', 'b', 'c'])
      })

      it('reflects later changes', async () => {
        await fill(...texts)
        expect(await idsOf({ text: ['gate'] })).toEqual(['a', 'f'])
        await books.put({ id: 'f', title: 'y' }, 1)
        await books.put({ id: 'i', title: 'Floodgates' }, 1)
        await books.put({ id: 'g', title: 'Gatehouse' }, 1)
        expect(await idsOf({ text: ['gate'] })).toEqual(['a', 'g', 'i'])
        await books.remove('a', 1)
        expect(await idsOf({ text: ['gate'] })).toEqual(['g', 'i'])
        expect(await idsOf({ text: ['y'] })).toEqual(['b', 'd', 'f'])
      })

      it('can be combined with conditions, an order and a page', async () => {
        await fill(
          { id: 'a', title: 'Red cat', genre: 'novel', pages: 3 },
          { id: 'b', title: 'Blue cat', genre: 'novel', pages: 9 },
          { id: 'c', title: 'Catalogue', genre: 'novel', pages: 6 },
          { id: 'd', title: 'Cat', genre: 'play', pages: 1 },
          { id: 'e', title: 'Dog', genre: 'novel', pages: 2 },
        )
        const sort: Sort[] = [{ field: 'pages', direction: 'desc' }]
        const query = { where: { genre: 'novel' }, text: ['cat'], sort }
        expect(await idsOf(query)).toEqual(['b', 'c', 'a'])
        expect(await books.find({ ...query, skip: 1, limit: 1 })).toEqual({
          items: [{ doc: { id: 'c', title: 'Catalogue', genre: 'novel', pages: 6 }, revision: 0 }],
          total: 3,
        })
      })

      it('finds nothing in a collection without texts', async () => {
        const silent = readModels.collection(defineCollection<Book>({ ...definition, text: [] }))
        await silent.put({ id: 'b1', title: 'x' }, 0)
        expect(await idsOf({ text: ['x'] }, silent)).toEqual([])
        expect(await idsOf({ text: [] }, silent)).toEqual(['b1'])
      })
    })

    describe('an order', () => {
      const asc = (field: string): Sort => ({ field, direction: 'asc' })
      const desc = (field: string): Sort => ({ field, direction: 'desc' })

      const asBooks = (values: Omit<Book, 'id'>[]) =>
        values.map((value, index): Book => ({ id: String(index + 1), ...value }))

      it('is by id by default, in code units', async () => {
        await fill({ id: 'b' }, { id: 'B' }, { id: '10' }, { id: 'a' }, { id: '9' })
        expect(await idsOf({})).toEqual(['10', '9', 'B', 'a', 'b'])
        expect(await idsOf({ sort: [] })).toEqual(['10', '9', 'B', 'a', 'b'])
      })

      it('sorts strings by code unit, numbers by value, and false before true', async () => {
        const titles = ['b', 'a', 'B', 'é', 'aa', '', '10', '9']
        const [pages, inPrint] = [
          [10, 9, -1.5, 0, 4, 5, 6, 7],
          [true, false, true, false, true, true, true, true],
        ]
        await fill(
          ...asBooks(
            titles.map((title, n) => ({ title, pages: pages[n] ?? 0, inPrint: inPrint[n] ?? null })),
          ),
        )
        for (const [field, expected] of [
          ['title', '67832514'],
          ['pages', '34567821'],
        ] as const) {
          expect((await idsOf({ sort: [asc(field)] })).join('')).toBe(expected)
          expect((await idsOf({ sort: [desc(field)] })).toReversed().join('')).toBe(expected)
        }
        expect((await idsOf({ sort: [asc('inPrint')] })).join('')).toBe('24135678')
      })

      it('leaves out removed documents, also among null and missing values', async () => {
        await fill({ id: 'a', pages: 1 }, { id: 'b' }, { id: 'c', pages: null }, { id: 'd', pages: 2 })
        await books.remove('e', 0)
        await books.remove('d', 1)
        await books.remove('B', 0)
        for (const direction of ['asc', 'desc'] as const) {
          const sort: Sort[] = [{ field: 'pages', direction }]
          const withNull = ['b', 'c']
          const inOrder = (ids: string[]) => (direction === 'asc' ? ids : ids.toReversed())
          expect(await idsOf({ sort })).toEqual(inOrder([...withNull, 'a']))
          expect(await idsOf({ sort, where: { pages: null } })).toEqual(inOrder(withNull))
          expect(await idsOf({ sort, where: { pages: { not: 1 } } })).toEqual(inOrder(withNull))
          expect(await idsOf({ sort, where: { title: null } })).toHaveLength(3)
        }
      })

      it('sorts null and missing values first, and last when descending', async () => {
        await fill(
          { id: '1', title: '', pages: -1, author: { name: 'x' } },
          { id: '2', title: null, pages: null, author: null },
          { id: '3' },
        )
        for (const field of ['title', 'pages', 'author.name']) {
          expect(await idsOf({ sort: [asc(field)] })).toEqual(['2', '3', '1'])
          expect(await idsOf({ sort: [desc(field)] })).toEqual(['1', '3', '2'])
        }
      })

      it('can use several fields, and breaks ties by id in the direction of the first', async () => {
        await fill(
          { id: 'a', genre: 'play', pages: 1, title: 'x' },
          { id: 'b', genre: 'novel', pages: 2, title: 'x' },
          { id: 'c', genre: 'play', pages: 3, title: 'x' },
          { id: 'd', genre: 'novel', pages: 2, title: 'a' },
        )
        const order = async (...sort: Sort[]) => (await idsOf({ sort })).join('')
        expect(await order(asc('genre'))).toBe('bdac')
        expect(await order(desc('genre'))).toBe('cadb')
        expect(await order(asc('genre'), desc('pages'))).toBe('bdca')
        expect(await order(desc('genre'), asc('pages'), asc('title'))).toBe('acdb')
      })

      it('reflects later changes', async () => {
        await fill({ id: 'a', pages: 1 }, { id: 'b', pages: 2 }, { id: 'c', pages: 3 })
        expect(await idsOf({ sort: [desc('pages')] })).toEqual(['c', 'b', 'a'])
        await books.put({ id: 'a', pages: 9 }, 1)
        await books.put({ id: 'c', pages: null }, 1)
        await books.put({ id: 'd', pages: 5 }, 1)
        expect(await idsOf({ sort: [desc('pages')] })).toEqual(['a', 'd', 'b', 'c'])
        await books.remove('d', 2)
        expect(await idsOf({ sort: [desc('pages')] })).toEqual(['a', 'b', 'c'])
      })
    })

    describe('a page', () => {
      it('has only the requested parts of the documents, of arrays those of their items', async () => {
        const chapters = [
          { name: 'One', text: 'long', notes: [{ page: 3, text: 'long' }] },
          { name: 'Two', text: 'long' },
        ]
        const whole = { title: 'A', blurb: 'long', author: { name: 'Ada', born: 1815 }, chapters }
        await readModels.write([write('b1', 4, whole), write('b2', 1, { title: 'B', blurb: 'long' })])
        const sort: Sort[] = [{ field: 'title', direction: 'asc' }]
        const parts = ['title', 'author.name', 'chapters.name', 'chapters.notes.page']
        const read = [
          {
            doc: {
              id: 'b1',
              title: 'A',
              author: { name: 'Ada' },
              chapters: [{ name: 'One', notes: [{ page: 3 }] }, { name: 'Two' }],
            },
            revision: 4,
          },
          { doc: { id: 'b2', title: 'B' }, revision: 1 },
        ]
        expect(await books.list({ sort, parts, limit: 10 })).toEqual(read)
        expect(await books.find({ sort, parts, limit: 1 })).toEqual({ items: [read[0]], total: 2 })
        expect(await books.list({ sort, limit: 1 })).toEqual([{ doc: { id: 'b1', ...whole }, revision: 4 }])
        expect(await books.list({ sort, parts: ['title'], limit: 1 })).toEqual([
          { doc: { id: 'b1', title: 'A' }, revision: 4 },
        ])
      })

      const numbered = (count: number): Book[] =>
        Array.from({ length: count }, (_, n) => ({
          id: String(n).padStart(4, '0'),
          title: `book ${n}`,
          genre: n % 3 === 0 ? 'play' : 'novel',
          pages: n % 7,
        }))

      it('has at most `limit` documents after `skip`, none past the end, and the total of all pages', async () => {
        const seven = numbered(7)
        await fill(...seven)
        const page = (...documents: (Book | undefined)[]) => ({
          items: documents.map(doc => ({ doc, revision: 0 })),
          total: 7,
        })
        expect(await books.find({ limit: 3 })).toEqual(page(...seven.slice(0, 3)))
        expect(await books.find({ skip: 3, limit: 3 })).toEqual(page(...seven.slice(3, 6)))
        expect(await books.find({ skip: 6, limit: 3 })).toEqual(page(seven[6]))
        expect(await books.list({ skip: 6, limit: 3 })).toEqual(page(seven[6]).items)
        expect(await books.find({ skip: 7, limit: 3 })).toEqual(page())
        expect(await books.find({ skip: 50_000, limit: 3 })).toEqual(page())
        expect(await books.find({ where: { genre: 'play' }, skip: 3, limit: 3 })).toEqual({
          items: [],
          total: 3,
        })
        expect(await books.list({ skip: 7, limit: 3 })).toEqual([])
      })

      const pageSize = Math.ceil(many / 2.7)
      const few = [3, many - 98, 77, many / 2, many - 99].map(n => `book ${n}`)
      const filters: [of: string, filter: Filter, limit: number, holds: (book: Book) => boolean][] = [
        ['everything', {}, pageSize, () => true],
        ['a common value', { where: { genre: 'novel' } }, pageSize, ({ genre }) => genre === 'novel'],
        [
          'one of several values',
          { where: { genre: { in: ['play', 'x'] } } },
          pageSize,
          ({ genre }) => genre === 'play',
        ],
        [
          'a range',
          { where: { genre: 'play', pages: { gte: 5 } } },
          Math.ceil(many / 25),
          b => b.genre === 'play' && Number(b.pages) > 4,
        ],
        ['a common text', { text: ['ook'] }, pageSize, () => true],
        ['a rare text', { text: ['99'] }, 3, ({ title }) => title?.includes('99') === true],
        ['a rare value', { where: { title: { in: few } } }, 2, ({ title }) => few.includes(title ?? '')],
      ]
      it('has every document of a filter once, in order, together with the other pages', async () => {
        const documents = numbered(many)
        await fill(...documents)
        for (const [of, filter, limit, holds] of filters)
          for (const direction of ['asc', 'desc'] as const) {
            const ascending = documents.filter(holds).toSorted((a, b) => Number(a.pages) - Number(b.pages))
            const expected = ascending.map(({ id }) => id)
            if (direction === 'desc') expected.reverse()
            const ids: string[] = []
            for (let skip = 0; ; skip += limit) {
              const sort: Sort[] = [{ field: 'pages', direction }]
              const { items, total } = await books.find({ ...filter, sort, skip, limit })
              expect(total, of).toBe(expected.length)
              ids.push(...items.map(({ doc }) => doc.id))
              if (items.length < limit) break
            }
            expect(ids, of).toEqual(expected)
          }
      })
    })

    describe('a batch of writes', () => {
      it('stores, replaces and removes documents in several collections and saves the checkpoint', async () => {
        const authors = booksOf(`${unused}.authors`)
        await fill({ id: 'b1', title: 'Old' }, { id: 'b2' })
        await readModels.write(
          [
            write('b1', 1, { title: 'New' }),
            write('b2', 1, null),
            { ...write('a1', 4, { title: 'Ada' }), collection: authors },
          ],
          { name: unused, position: '0017' },
        )
        expect(await books.list({ limit: 10 })).toEqual([{ doc: { id: 'b1', title: 'New' }, revision: 1 }])
        expect(await readModels.collection(authors).get('a1')).toEqual({
          doc: { id: 'a1', title: 'Ada' },
          revision: 4,
        })
        expect(await readModels.checkpoints.get(unused)).toBe('0017')
      })

      it('skips outdated writes and applies the others', async () => {
        await books.put({ id: 'b1', title: 'Newer' }, 5)
        await books.remove('b2', 5)
        await books.put({ id: 'b3', title: 'Newer' }, 5)
        await books.put({ id: 'b5' }, 5)
        await readModels.write(
          [
            write('b1', 5, { title: 'Same' }),
            write('b2', 5, {}),
            write('b3', 4, null),
            write('b4', 0, {}),
            write('b5', 5, null),
          ],
          { name: unused, position: '1' },
        )
        expect(await books.list({ limit: 10 })).toEqual([
          { doc: { id: 'b1', title: 'Newer' }, revision: 5 },
          { doc: { id: 'b3', title: 'Newer' }, revision: 5 },
          { doc: { id: 'b4' }, revision: 0 },
        ])
        expect(await readModels.checkpoints.get(unused)).toBe('1')
      })

      it('applies the newest of several writes of one document', async () => {
        await readModels.write([
          write('b1', 0, { pages: 10 }),
          write('b1', 2, { pages: 12 }),
          write('b1', 1, { pages: 11 }),
        ])
        expect(await books.get('b1')).toEqual({ doc: { id: 'b1', pages: 12 }, revision: 2 })
        await readModels.write([write('b1', 3, null), write('b1', 4, { pages: 14 })])
        expect(await books.get('b1')).toEqual({ doc: { id: 'b1', pages: 14 }, revision: 4 })
        await readModels.write([write('b1', 5, { pages: 15 }), write('b1', 6, null)])
        expect(await books.get('b1')).toBeUndefined()
      })

      it('applied twice changes nothing', async () => {
        const writes = [write('b1', 1, { pages: 1 }), write('b2', 1, null)]
        await readModels.write(writes)
        await readModels.write(writes)
        expect(await books.list({ limit: 10 })).toEqual([{ doc: { id: 'b1', pages: 1 }, revision: 1 }])
      })

      it('replaces a document of the same revision when forced, but never with an older one', async () => {
        await books.put({ id: 'b1', title: 'Old shape' }, 5)
        await books.put({ id: 'b2', title: 'Newer' }, 6)
        await readModels.write([
          { ...write('b1', 5, { genre: 'new shape' }), force: true },
          { ...write('b2', 5, { genre: 'new shape' }), force: true },
        ])
        expect(await books.get('b1')).toEqual({ doc: { id: 'b1', genre: 'new shape' }, revision: 5 })
        expect(await books.get('b2')).toEqual({ doc: { id: 'b2', title: 'Newer' }, revision: 6 })
        expect(await idsOf({ where: { title: 'Old shape' } })).toEqual([])
        expect(await idsOf({ where: { genre: 'new shape' } })).toEqual(['b1'])
      })

      it.each([
        ['a document', { pages: 2 }],
        ['a tombstone', null],
      ])('replaces an incomplete document by %s of a complete state of the same revision', async (_, doc) => {
        await readModels.write([{ ...write('b1', 5, { pages: 1 }), incomplete: true }])
        expect(await books.get('b1')).toEqual({ doc: { id: 'b1', pages: 1 }, revision: 5 })
        await readModels.write([write('b1', 5, doc)])
        const stored = await books.get('b1')
        expect(stored).toEqual(doc ? { doc: { id: 'b1', ...doc }, revision: 5 } : undefined)
        await readModels.write([write('b1', 5, { pages: 3 })])
        expect(await books.get('b1')).toEqual(stored)
      })

      it('never replaces a complete document by an incomplete one of the same revision, forced or not', async () => {
        await readModels.write([write('b1', 5, { pages: 1 }), write('b2', 5, null)])
        for (const force of [false, true]) {
          await readModels.write([
            { ...write('b1', 5, { pages: 2 }), incomplete: true, force },
            { ...write('b2', 5, { pages: 2 }), incomplete: true, force },
          ])
          await readModels.write([{ ...write('b1', 5, null), incomplete: true, force }])
        }
        expect(await books.list({ limit: 10 })).toEqual([{ doc: { id: 'b1', pages: 1 }, revision: 5 }])
      })

      it('stores an incomplete document at a newer revision, and again when forced', async () => {
        await readModels.write([write('b1', 4, { pages: 1 })])
        await readModels.write([{ ...write('b1', 5, { pages: 2 }), incomplete: true }])
        await readModels.write([{ ...write('b1', 5, { pages: 3 }), incomplete: true }])
        expect(await books.get('b1')).toEqual({ doc: { id: 'b1', pages: 2 }, revision: 5 })
        await readModels.write([{ ...write('b1', 5, { pages: 3 }), incomplete: true, force: true }])
        expect(await books.get('b1')).toEqual({ doc: { id: 'b1', pages: 3 }, revision: 5 })
      })

      it('applies the complete one of two writes of the same revision, in either order', async () => {
        await readModels.write([
          { ...write('b1', 5, { pages: 1 }), incomplete: true },
          write('b1', 5, { pages: 2 }),
          write('b2', 5, { pages: 2 }),
          { ...write('b2', 5, { pages: 1 }), incomplete: true, force: true },
        ])
        expect((await books.list({ limit: 10 })).map(({ doc }) => doc.pages)).toEqual([2, 2])
      })

      it('can be large or empty', async () => {
        const writes = Array.from({ length: 2 * many }, (_, n) => write(`b${n}`, 0, { pages: n }))
        await readModels.write(writes, { name: unused, position: '1' })
        expect(await books.count({})).toBe(2 * many)
        await readModels.write([], { name: unused, position: '2' })
        await readModels.write([])
        expect(await readModels.checkpoints.get(unused)).toBe('2')
        expect(await books.count({})).toBe(2 * many)
      })
    })

    it('return which of several ids have documents, without removed ones', async () => {
      await fill({ id: 'b1' }, { id: 'b2' }, { id: 'b3' })
      await books.remove('b2', 1)
      expect(await books.existing(['b3', 'b1', 'b2', 'b1', 'b4'])).toEqual(new Set(['b1', 'b3']))
      expect(await books.existing([])).toEqual(new Set())
    })

    describe('a generation', () => {
      it('has its own documents and tombstones, and is empty after it was discarded', async () => {
        const of = (generation: number) => readModels.collection<Book>({ ...definition, generation })
        const [first, second] = [of(0), of(1_700_000_000_000)]
        expect(await first.put({ id: 'b1', title: 'One' }, 5)).toBe(true)
        expect(await second.put({ id: 'b1', title: 'Two' }, 3)).toBe(true)
        await second.remove('b2', 9)
        expect(await idsOf({ text: ['two'] }, second)).toEqual(['b1'])
        expect(await books.get('b1')).toEqual({ doc: { id: 'b1', title: 'One' }, revision: 5 })
        expect(await first.latest('b2')).toBeUndefined()
        await readModels.drop({ ...definition, generation: 1_700_000_000_000 })
        expect(await idsOf({}, second)).toEqual([])
        expect(await idsOf({ text: ['one'] }, first)).toEqual(['b1'])
      })

      /** A group of the collection of books, and of a second one of authors. */
      const grouped = async (store: ReadModels) => {
        const authors = booksOf(`${unused}.authors`)
        const group = store.group(unused, [definition, authors])
        return {
          group,
          authors,
          store,
          of: (generation: number) => store.collection(group.of(definition, generation)),
        }
      }

      it('is written with the live one, and read from the switch on, in all collections of its group', async context => {
        const lease = await held('a')
        const [ours, theirs] = [await grouped(readModels), await grouped(await another(context))]
        const settled = () => new Promise(resolve => setTimeout(resolve, ours.group.settleMs))
        const put = (store: ReadModels, id: string) =>
          store.write(
            [definition, ours.authors].map(collection => ({ collection, id, doc: { id }, revision: 0 })),
          )
        const read = async ({ store, authors }: typeof ours) => [
          await idsOf({}, store.collection(definition)),
          await idsOf({}, store.collection(authors)),
        ]
        expect(await storedGenerations(unused, readModels)).toBeUndefined()
        expect(await ours.group.current()).toEqual({ live: 0, written: [0], dropped: [] })
        await put(readModels, 'b1')
        await ours.group.change(lease, current => ({ ...current, written: [0, 7] }))
        expect(await storedGenerations(unused, readModels)).toMatchObject({ written: [0, 7] })
        await settled()
        await put(theirs.store, 'b2')
        await theirs.store.collection(definition).put({ id: 'b3' }, 4)
        await theirs.store.collection(definition).remove('b3', 5)
        expect(await read(ours)).toEqual([
          ['b1', 'b2'],
          ['b1', 'b2'],
        ])
        expect(await idsOf({}, ours.of(7))).toEqual(['b2'])
        expect(await ours.of(7).latest('b3')).toEqual({ doc: null, revision: 5 })
        await ours.group.change(lease, current => ({ ...current, live: 7 }))
        await settled()
        for (const process of [ours, theirs]) expect(await read(process)).toEqual([['b2'], ['b2']])
        await put(theirs.store, 'b4')
        expect(await idsOf({}, theirs.of(0))).toEqual(['b1', 'b2', 'b4'])
        await theirs.group.change(lease, () => ({ live: 7, written: [7], dropped: [0] }))
        await settled()
        await ours.group.discard(0)
        await put(readModels, 'b5')
        for (const process of [ours, theirs])
          expect(await read(process)).toEqual([
            ['b2', 'b4', 'b5'],
            ['b2', 'b4', 'b5'],
          ])
        expect(await idsOf({}, readModels.collection({ ...definition, generation: 0 }))).toEqual([])
      })

      it('is not changed under a lease that another holder has taken over', async () => {
        const lost = await held('a', 1)
        const { group } = await grouped(readModels)
        await group.change(await takenOver('b'), current => current)
        await expect(group.change(lost, () => ({ live: 9, written: [9], dropped: [] }))).rejects.toThrow(
          LeaseLost,
        )
        expect((await group.current()).live).toBe(0)
      })

      it('that is discarded may have many documents, or not exist', async () => {
        const { group, of } = await grouped(readModels)
        await group.discard(5)
        const collection = group.of(definition, 5)
        await readModels.write(
          Array.from({ length: many }, (_, n) => ({ ...write(`b${n}`, 0, { title: 'x' }), collection })),
        )
        expect(await of(5).count({ text: ['x'] })).toBe(many)
        await group.discard(5)
        expect(await of(5).count({})).toBe(0)
      })
    })

    describe('a tombstone that is forgotten', () => {
      const forget = async (ageMs: number, collection = books) => {
        for (let forgotten = 0; ; ) {
          const some = await collection.forgetRemoved(ageMs)
          if (some === 0) return forgotten
          forgotten += some
        }
      }

      it('existed in an earlier call, and no longer rejects older writes', async () => {
        await fill({ id: 'b1', title: 'One' }, { id: 'b2' })
        await books.remove('b1', 5)
        await books.put({ id: 'b3' }, 0)
        expect(await forget(0)).toBe(0)
        expect(await books.put({ id: 'b1' }, 4)).toBe(false)
        expect(await books.latest('b1')).toEqual({ doc: null, revision: 5 })
        expect(await forget(0)).toBe(1)
        expect(await books.latest('b1')).toBeUndefined()
        expect(await idsOf({})).toEqual(['b2', 'b3'])
        expect(await books.put({ id: 'b1', title: 'Again' }, 0)).toBe(true)
        expect(await idsOf({ text: ['again'] })).toEqual(['b1'])
      })

      it('is at least as old as requested', async () => {
        await books.remove('b1', 5)
        await books.put({ id: 'b2' }, 0)
        await forget(0)
        expect(await forget(A_MINUTE)).toBe(0)
        expect(await books.latest('b1')).toEqual({ doc: null, revision: 5 })
        expect(await forget(0)).toBe(1)
      })

      it('was not replaced since it was first seen', async () => {
        for (const id of ['b1', 'b2', 'b3']) await books.remove(id, 5)
        await forget(0)
        await books.put({ id: 'b1' }, 6)
        await books.remove('b2', 6)
        await books.put({ id: 'b3' }, 6)
        await books.remove('b3', 7)
        await books.put({ id: 'b4' }, 0)
        expect(await forget(0)).toBe(0)
        expect(await books.latest('b1')).toEqual({ doc: { id: 'b1' }, revision: 6 })
        expect(await books.latest('b2')).toEqual({ doc: null, revision: 6 })
        expect(await forget(0)).toBe(2)
        expect(await books.latest('b3')).toBeUndefined()
      })

      it('can be one of many', async () => {
        const ids = Array.from({ length: 250 }, (_, n) => `b${n}`)
        await readModels.write(ids.map(id => write(id, 3, null)))
        await books.put({ id: 'kept' }, 0)
        expect(await forget(0)).toBe(0)
        expect(await forget(0)).toBe(250)
        expect(await books.latest('b7')).toBeUndefined()
        expect(await idsOf({})).toEqual(['kept'])
      })

      it('does not hide the removal from a connection that last read before it', async context => {
        const theirs = (await another(context)).collection(definition)
        await fill({ id: 'b1', title: 'One' }, { id: 'b2', title: 'Two' })
        expect(await idsOf({ text: ['o'] }, theirs)).toEqual(['b1', 'b2'])
        await books.remove('b1', 1)
        await books.put({ id: 'b3', title: 'Foo' }, 0)
        await forget(0)
        expect(await forget(0)).toBe(1)
        expect(await idsOf({ text: ['o'] }, theirs)).toEqual(['b2', 'b3'])
        expect(await theirs.latest('b1')).toBeUndefined()
        await books.remove('b2', 1)
        await books.put({ id: 'b1', title: 'Once more' }, 0)
        expect(await idsOf({ text: ['o'] }, theirs)).toEqual(['b1', 'b3'])
      })
    })

    describe('a checkpoint', () => {
      it('has the last saved position until it is cleared', async () => {
        const { checkpoints } = readModels
        expect(await checkpoints.get(unused)).toBeUndefined()
        await checkpoints.save(unused, '0009')
        await checkpoints.save(unused, '0003')
        expect(await checkpoints.get(unused)).toBe('0003')
        await checkpoints.save(`${unused}.other`, '')
        await checkpoints.clear(unused)
        await checkpoints.clear(unused)
        expect(await checkpoints.get(unused)).toBeUndefined()
        expect(await checkpoints.get(`${unused}.other`)).toBe('')
      })

      it('is saved under a held lease, also after it was renewed', async () => {
        const lease = await held('a')
        await readModels.checkpoints.save(unused, '1', lease)
        await readModels.leases.acquire(unused, 'a', A_MINUTE)
        await readModels.write([], { name: unused, position: '2', lease })
        expect(await readModels.checkpoints.get(unused)).toBe('2')
        await readModels.checkpoints.save(unused, '3', lease)
        expect(await readModels.checkpoints.get(unused)).toBe('3')
      })

      it('is refused under a lease that another holder has taken over, and does not change', async () => {
        const lost = await held('a', 1)
        const lease = await takenOver('b')
        await readModels.write([], { name: unused, position: 'of b', lease })
        await expect(
          readModels.write([write('b1', 0, {})], { name: unused, position: 'of a', lease: lost }),
        ).rejects.toThrow(LeaseLost)
        await expect(readModels.checkpoints.save(unused, 'of a', lost)).rejects.toThrow(LeaseLost)
        expect(await readModels.checkpoints.get(unused)).toBe('of b')
      })

      it('is refused under a released lease once another holder has it', async () => {
        const lost = await held('a')
        await readModels.leases.release(lost)
        await held('b')
        await expect(readModels.checkpoints.save(unused, '1', lost)).rejects.toThrow(LeaseLost)
        expect(await readModels.checkpoints.get(unused)).toBeUndefined()
      })
    })

    /** Acquires the lease of this test, which must be free. */
    const held = async (holder: string, ttlMs = A_MINUTE, { leases } = readModels) => {
      const lease = await leases.acquire(unused, holder, ttlMs)
      if (!lease) throw new Error('the lease is not free')
      return lease
    }

    /** Waits until the lease of this test has expired, and acquires it. */
    const takenOver = (holder: string, store = readModels) =>
      vi.waitFor(() => held(holder, A_MINUTE, store), { interval: 5 })

    it('return the ids of all documents, also of many, without removed ones', async () => {
      const told = async () => {
        const ids: string[] = []
        for await (const id of books.ids()) ids.push(id)
        return ids.sort()
      }
      const ids = Array.from({ length: 2 * many }, (_, n) => `b${String(n).padStart(4, '0')}`)
      await readModels.write(
        ids.map(id => ({ collection: definition, id, doc: { id, title: id }, revision: 0 })),
      )
      await books.remove('b0000', 1)
      await books.remove('b0234', 1)
      const left = ids.filter(id => id !== 'b0000' && id !== 'b0234')
      expect(await told()).toEqual(left)
      await readModels.drop(definition)
      expect(await told()).toEqual([])
    })

    it('return the time of the clock of their store', async () => {
      const [first, second] = [await readModels.time(), await readModels.time()]
      expect(Math.abs(first.getTime() - Date.now())).toBeLessThan(A_MINUTE)
      expect(second.getTime()).toBeGreaterThanOrEqual(first.getTime())
    })

    describe('a lease', () => {
      it('is given to one holder, by name', async () => {
        expect(await readModels.leases.acquire(unused, 'a', A_MINUTE)).toEqual({
          name: unused,
          holder: 'a',
          token: expect.any(Number),
        })
        expect(await readModels.leases.acquire(unused, 'b', A_MINUTE)).toBeUndefined()
        expect(await readModels.leases.acquire(`${unused}.other`, 'b', A_MINUTE)).toMatchObject({
          holder: 'b',
        })
      })

      it('is given to one of several holders that ask concurrently', async () => {
        const holders = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
        const leases = await Promise.all(
          holders.map(holder => readModels.leases.acquire(unused, holder, A_MINUTE)),
        )
        expect(leases.filter(lease => lease)).toHaveLength(1)
      })

      it('is renewed by its holder with the same token', async () => {
        const first = await held('a')
        expect(await held('a')).toEqual(first)
        expect(await readModels.leases.acquire(unused, 'b', A_MINUTE)).toBeUndefined()
      })

      it('is given to another holder, with a greater token, when it has expired', async () => {
        const first = await held('a', 1)
        const second = await takenOver('b')
        expect(second).toEqual({ name: unused, holder: 'b', token: expect.any(Number) })
        expect(second.token).toBeGreaterThan(first.token)
        expect(await readModels.leases.acquire(unused, 'a', A_MINUTE)).toBeUndefined()
      })

      it('is given to another holder, with a greater token, when it was released', async () => {
        const first = await held('a')
        await readModels.leases.release(first)
        const second = await held('b')
        expect(second.token).toBeGreaterThan(first.token)
      })

      it('is not released by a former holder', async () => {
        const lost = await held('a', 1)
        const lease = await takenOver('b')
        await readModels.leases.release(lost)
        expect(await readModels.leases.acquire(unused, 'c', A_MINUTE)).toBeUndefined()
        expect(await held('b')).toEqual(lease)
      })
    })

    describe('a collection', () => {
      it('that is dropped has neither documents nor tombstones', async () => {
        const other = readModels.collection(booksOf(`${unused}.other`))
        await other.put({ id: 'b1' }, 0)
        await fill({ id: 'b1', title: 'One' }, { id: 'b2' })
        await books.remove('b3', 9)
        expect(await idsOf({ text: ['one'] })).toEqual(['b1'])
        await readModels.drop(definition)
        expect(await books.get('b1')).toBeUndefined()
        expect(await idsOf({})).toEqual([])
        expect(await idsOf({ text: ['one'] })).toEqual([])
        expect(await idsOf({ where: { title: 'One' } })).toEqual([])
        expect(await other.count({})).toBe(1)

        expect(await books.put({ id: 'b3', title: 'Three' }, 1)).toBe(true)
        expect(await books.put({ id: 'b1', title: 'One' }, 0)).toBe(true)
        expect(await idsOf({ sort: [{ field: 'title', direction: 'desc' }] })).toEqual(['b3', 'b1'])
        expect(await idsOf({ text: ['one'] })).toEqual(['b1'])
      })

      it('of a new version starts empty and does not change the previous version', async () => {
        await books.put({ id: 'b1', title: 'Old shape' }, 5)
        const reshaped = readModels.collection(booksOf(unused, 2))
        expect(await idsOf({}, reshaped)).toEqual([])
        expect(await reshaped.get('b1')).toBeUndefined()
        expect(await reshaped.put({ id: 'b1', title: 'New shape' }, 5)).toBe(true)
        expect(await reshaped.list({ limit: 10 })).toEqual([
          { doc: { id: 'b1', title: 'New shape' }, revision: 5 },
        ])
        expect(await books.list({ limit: 10 })).toEqual([
          { doc: { id: 'b1', title: 'Old shape' }, revision: 5 },
        ])
      })

      it('that declares more fields can be queried by them for earlier documents', async () => {
        const narrow = readModels.collection(
          defineCollection<Book>({ ...definition, fields: { title: 'string' }, text: ['title'] }),
        )
        await narrow.put({ id: 'b1', title: 'One', blurb: 'first', pages: 2, author: { name: 'Ada' } }, 0)
        await narrow.put({ id: 'b2', title: 'Two', blurb: 'second', pages: 1 }, 0)
        expect(await idsOf({ where: { title: 'One' } }, narrow)).toEqual(['b1'])
        expect(await idsOf({ text: ['first'] }, narrow)).toEqual([])
        await expect(narrow.count({ where: { pages: 1 } })).rejects.toThrow(UnknownField)

        expect(await idsOf({ where: { pages: { gt: 1 } } })).toEqual(['b1'])
        expect(await idsOf({ where: { 'author.name': 'Ada' } })).toEqual(['b1'])
        expect(await idsOf({ sort: [{ field: 'pages', direction: 'asc' }] })).toEqual(['b2', 'b1'])
        expect(await idsOf({ text: ['first'] })).toEqual(['b1'])
      })
    })

    describe('another connection', () => {
      it('reads a write as soon as it is acknowledged', async context => {
        const theirs = (await another(context)).collection(definition)
        const sort: Sort[] = [{ field: 'pages', direction: 'desc' }]
        for (let n = 1; n <= 20; n++) {
          const [writer, reader] = n % 2 === 0 ? [books, theirs] : [theirs, books]
          const doc: Book = { id: `b${n % 5}`, title: `Title ${n}.`, genre: 'novel', pages: n }
          expect(await writer.put(doc, n)).toBe(true)
          expect(await reader.get(doc.id)).toEqual({ doc, revision: n })
          const found = { items: [{ doc, revision: n }], total: Math.min(n, 5) }
          expect(await reader.find({ where: { genre: 'novel' }, sort, limit: 1 })).toEqual(found)
          expect(await idsOf({ text: [`${n}.`], where: { pages: n } }, reader)).toEqual([doc.id])
        }
        await books.remove('b0', 21)
        expect(await theirs.get('b0')).toBeUndefined()
        expect(await theirs.count({})).toBe(4)
        await readModels.write([write('b1', 22, null)])
        expect(await idsOf({}, theirs)).toEqual(['b2', 'b3', 'b4'])
        await readModels.drop(definition)
        expect(await theirs.get('b2')).toBeUndefined()
        expect(await idsOf({}, theirs)).toEqual([])
        await books.put({ id: 'b9' }, 0)
        expect(await idsOf({}, theirs)).toEqual(['b9'])
      })

      it('can put the same documents concurrently: the newest revision of each is kept', async context => {
        const theirs = (await another(context)).collection(definition)
        const ids = ['b1', 'b2', 'b3', 'b4']
        const revisions = [3, 8, 0, 6, 9, 1, 7, 4, 2, 5]
        const puts = revisions.flatMap(revision =>
          ids.map(id => ({ id, revision, by: revision % 2 === 0 ? books : theirs })),
        )
        const stored = await Promise.all(
          puts.map(({ id, revision, by }) => by.put({ id, pages: revision }, revision)),
        )
        expect(puts.filter(({ revision }, n) => revision === 9 && stored[n])).toHaveLength(4)
        for (const collection of [books, theirs])
          expect(await collection.list({ limit: 10 })).toEqual(
            ids.map(id => ({ doc: { id, pages: 9 }, revision: 9 })),
          )
      })

      it('respects the leases and reads the checkpoints', async context => {
        const theirs = await another(context)
        const lost = await held('a', 1)
        const lease = await takenOver('b', theirs)
        expect(lease.token).toBeGreaterThan(lost.token)
        expect(await readModels.leases.acquire(unused, 'a', A_MINUTE)).toBeUndefined()
        await theirs.checkpoints.save(unused, 'of b', lease)
        await expect(readModels.checkpoints.save(unused, 'of a', lost)).rejects.toThrow(LeaseLost)
        expect(await readModels.checkpoints.get(unused)).toBe('of b')
      })
    })

    it('keeps what it has when it is purged, and answers a ping', async () => {
      await readModels.checkpoints.save('purged', '7')
      await readModels.purge()
      expect(await readModels.checkpoints.get('purged')).toBe('7')
      await expect(readModels.ping()).resolves.toBeUndefined()
    })
  })
}
