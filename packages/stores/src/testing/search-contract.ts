import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Collection, type Document, defineCollection, type Query } from '../collection.ts'
import type { ReadModels } from '../read-models.ts'
import type { OpenedReadModels } from './read-models-contract.ts'

interface Service extends Document {
  name?: string
  about?: string | null
  tags?: string[]
  owner?: string
}

interface Manual extends Document {
  of: string
  operations: string[]
}

const servicesOf = (name: string) =>
  defineCollection<Service>({
    name,
    version: 1,
    fields: { name: 'string', tags: 'strings', owner: 'string' },
    search: {
      fields: {
        name: { weight: 5, words: 3 },
        about: { weight: 3, words: 40 },
        tags: { weight: 3, words: 3 },
      },
    },
  })

const manualsOf = (name: string) =>
  defineCollection<Manual>({
    name: `${name}.manuals`,
    version: 1,
    fields: { of: 'string' },
    search: { fields: { operations: { weight: 4, words: 300 } } },
  })

/** Tests the guarantees of `search` of the ReadModels port. Each test uses unique names. */
export function searchContract(name: string, open: () => Promise<OpenedReadModels>): void {
  describe(`searches of ${name}`, () => {
    let opened: OpenedReadModels
    let readModels: ReadModels
    let definition: ReturnType<typeof servicesOf>
    let manuals: ReturnType<typeof manualsOf>
    let services: Collection<Service>

    beforeEach(async () => {
      opened = await open()
      readModels = opened.readModels
      definition = servicesOf(`contract.${randomUUID().replaceAll('-', '')}`)
      manuals = manualsOf(definition.name)
      services = readModels.collection(definition)
    })
    afterEach(() => opened.close())

    const fill = (...documents: Service[]) =>
      readModels.write(documents.map(doc => ({ collection: definition, id: doc.id, doc, revision: 0 })))
    const describeBy = (...documents: Manual[]) =>
      readModels.write(documents.map(doc => ({ collection: manuals, id: doc.id, doc, revision: 0 })))

    /** Ids of what a query finds, in order; asserts that find, list and count agree. */
    const found = async (q: string, query: Partial<Query> = {}): Promise<string[]> => {
      const described = [{ by: manuals, field: 'of' }]
      const whole: Query = { limit: 100, ...query, search: { q, described, ...query.search } }
      const { items, total } = await services.find(whole)
      expect(await services.list(whole)).toEqual(items)
      expect(await services.count(whole)).toBe(total)
      if (!query.skip && !query.limit) expect(items).toHaveLength(total)
      return items.map(({ doc }) => doc.id)
    }

    it('puts documents first that have more of the words, rarer ones, and in heavier fields', async () => {
      await fill(
        { id: 'a', name: 'Mail gateway', about: 'Sends mail, and a text message too' },
        { id: 'b', name: 'Text messages', about: 'Sends and receives' },
        { id: 'c', name: 'Weather', about: 'Weather of today' },
        { id: 'd', name: 'Climate', about: 'Long records of the weather' },
      )
      expect(await found('text message')).toEqual(['b', 'a'])
      expect(await found('weather')).toEqual(['c', 'd'])
      expect(await found('weather climate')).toEqual(['d'])
    })

    it('finds the same documents whatever the order of the words, and prefers neighbours', async () => {
      await fill(
        { id: 'apart', name: 'x', about: 'Card for each member, and a payment' },
        { id: 'near', name: 'x', about: 'Member for each plan, and a card payment' },
      )
      expect(await found('card payment')).toEqual(['near', 'apart'])
      expect(await found('payment card')).toEqual(['near', 'apart'])
    })

    it('orders equally relevant documents by id, on all pages', async () => {
      const ids = Array.from({ length: 25 }, (_, at) => `s${String(at).padStart(2, '0')}`)
      await fill(...ids.toReversed().map(id => ({ id, name: 'Orders' })), {
        id: 'top',
        name: 'Orders',
        tags: ['orders'],
      })
      expect(await found('orders')).toEqual(['top', ...ids])
      expect(await found('orders', { skip: 10, limit: 5 })).toEqual(ids.slice(9, 14))
      expect(await found('orders', { skip: 26, limit: 5 })).toEqual([])
    })

    it('takes the last word for a beginning, of two letters or more', async () => {
      await fill({ id: 'a', name: 'Translation' }, { id: 'b', name: 'Transport' }, { id: 'c', name: 'Rail' })
      expect(await found('transl')).toEqual(['a'])
      expect(await found('tr')).toEqual(['b', 'a'])
      expect(await found('t')).toEqual([])
      expect(await found('transp rail')).toEqual(['c'])
    })

    it.each(['invoce', 'invooice', 'invaice', 'inovice', 'nvoice', 'invoicee'])(
      'forgives one typo from five letters on: %s',
      async typed => {
        await fill({ id: 'a', name: 'Invoice' }, { id: 'b', name: 'Card' })
        expect(await found(`${typed} x`)).toEqual(['a'])
        expect(await found('invce x')).toEqual([])
        expect(await found('crad x')).toEqual([])
      },
    )

    it('does not take a word for a typo that exists itself', async () => {
      await fill({ id: 'a', name: 'Weather' }, { id: 'b', name: 'Whether' })
      expect(await found('whether or')).toEqual(['b'])
    })

    it('finds parts of identifiers and paths, inflections, and letters without marks', async () => {
      await fill(
        { id: 'camel', name: 'getInvoiceById' },
        { id: 'snake', name: 'send_sms' },
        { id: 'path', name: '/pets/{petId}/photos' },
        { id: 'mark', name: 'Überweisungen für Café' },
        { id: 'cjk', name: '天気予報 API' },
        { id: 'plural', name: 'Categories' },
      )
      expect(await found('invoices')).toEqual(['camel'])
      expect(await found('getinvoicebyid')).toEqual(['camel'])
      expect(await found('sendSms')).toEqual(['snake'])
      expect(await found('/pets/{petId}')).toEqual(['path'])
      expect(await found('UBERWEISUNG')).toEqual(['mark'])
      expect(await found('cafe')).toEqual(['mark'])
      expect(await found('天気')).toEqual(['cjk'])
      expect(await found('報')).toEqual(['cjk'])
      expect(await found('category')).toEqual(['plural'])
    })

    it('finds other words for the same thing, after the word itself', async () => {
      await fill({ id: 'a', name: 'Soccer' }, { id: 'b', name: 'Football' }, { id: 'c', name: 'Tennis' })
      expect(await found('football results')).toEqual(['b', 'a'])
      expect(await found('soccer')).toEqual(['a', 'b'])
    })

    it('combines with filters, orders and facets', async () => {
      await fill(
        { id: 'a', name: 'Parking', tags: ['city', 'cars'], owner: 'o1' },
        { id: 'b', name: 'Parking meters', tags: ['city'], owner: 'o2' },
        { id: 'c', name: 'City maps', tags: ['city'], owner: 'o1' },
      )
      expect(await found('parking')).toEqual(['a', 'b'])
      expect(await found('parking', { where: { owner: 'o2' } })).toEqual(['b'])
      expect(await found('parking', { where: { tags: { all: ['cars'] } } })).toEqual(['a'])
      expect(await found('parking', { where: { owner: 'nobody' } })).toEqual([])
      expect(await found('parking', { sort: [{ field: 'name', direction: 'desc' }] })).toEqual(['b', 'a'])
      expect(await services.facet({ search: { q: 'parking' } }, 'tags', 10)).toEqual([
        { value: 'city', count: 2 },
        { value: 'cars', count: 1 },
      ])
      expect(await services.facet({ search: { q: 'parking' }, where: { owner: 'o1' } }, 'owner', 10)).toEqual(
        [{ value: 'o1', count: 1 }],
      )
    })

    it('follows each change, also after a purge', async () => {
      await fill({ id: 'a', name: 'Alice Liddell' }, { id: 'b', name: 'Bob' })
      expect(await found('liddell')).toEqual(['a'])
      await services.put({ id: 'a', name: 'Ada' }, 1)
      expect(await found('liddell')).toEqual([])
      expect(await found('ada')).toEqual(['a'])
      await readModels.purge()
      await services.remove('b', 1)
      await services.put({ id: 'c', name: 'Carol Bob' }, 0)
      expect(await found('bob')).toEqual(['c'])
      expect(await found('ada')).toEqual(['a'])
      await readModels.drop(definition)
      expect(await found('ada')).toEqual([])
    })

    it('finds documents by those that describe them', async () => {
      await fill({ id: 'a', name: 'Twitch' }, { id: 'b', name: 'Send' }, { id: 'c', name: 'Messages' })
      await describeBy(
        { id: 'a/1', of: 'a', operations: ['POST /messages Send an SMS', 'GET /messages List messages'] },
        { id: 'a/2', of: 'a', operations: ['POST /messages Send an SMS'] },
        { id: 'b/1', of: 'b', operations: ['GET /parcels'] },
        { id: 'z/1', of: 'gone', operations: ['POST /messages Send an SMS'] },
      )
      expect(await found('send sms')).toEqual(['a'])
      expect(await found('parcels')).toEqual(['b'])
      expect(await found('parcles')).toEqual(['b'])
      await readModels.write([{ collection: manuals, id: 'b/1', doc: null, revision: 1 }])
      await services.put({ id: 'gone', name: 'Back' }, 0)
      expect(await found('parcels')).toEqual([])
      expect(await found('sms')).toEqual(['a', 'gone'])
      await services.remove('a', 1)
      await services.put({ id: 'd', name: 'New' }, 0)
      expect(await found('sms')).toEqual(['gone'])
    })

    it('finds documents by texts that stand for values of a field', async () => {
      await fill(
        { id: 'a', name: 'One', owner: 'u1' },
        { id: 'b', name: 'Two', owner: 'u2' },
        { id: 'c', name: 'Ada' },
      )
      const named = {
        field: 'owner',
        texts: { u1: 'Ada Lovelace', u3: 'Ada Nobody' },
        as: { weight: 2, words: 2 },
      }
      expect(await found('lovelace', { search: { q: 'lovelace', named } })).toEqual(['a'])
      expect(await found('ada', { search: { q: 'ada', named } })).toEqual(['c', 'a'])
      expect(await found('two lovelac', { search: { q: 'two lovelac', named } })).toEqual(['b', 'a'])
      expect(await found('lovelace')).toEqual([])
    })

    it.each([
      '',
      ' ',
      '?!*"\'()[]{}^~:;',
      '"',
      'AND OR NOT NEAR(',
      'field:x*',
      '\0',
      'a\0b',
      '$where .x',
      '__proto__ constructor',
      '🙂',
      'x'.repeat(10_000),
      'word '.repeat(2_000),
      '\ud800',
    ])('answers any query: %j', async q => {
      await fill({ id: 'a', name: 'Some name', about: 'constructor' })
      expect(await found(q)).toEqual(q.includes('constructor') ? ['a'] : [])
    })

    it('finds nothing in a collection without fields to search', async () => {
      const plain = readModels.collection(
        defineCollection<Service>({
          name: `${definition.name}.plain`,
          version: 1,
          fields: { name: 'string' },
        }),
      )
      await plain.put({ id: 'a', name: 'word' }, 0)
      expect(await plain.find({ search: { q: 'word' }, limit: 10 })).toEqual({ items: [], total: 0 })
    })
  })
}
