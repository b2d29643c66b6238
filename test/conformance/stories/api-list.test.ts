import { beforeAll, describe, expect, test } from 'vitest'
import { createApi, deploy, listApis, readApi } from '../src/apis.ts'
import type { Query } from '../src/client.ts'
import { admin, unique, uuid } from '../src/gantry.ts'
import { platformEvent, publish } from '../src/platform-events.ts'
import type { Api } from '../src/records.ts'

const ids = (apis: Api[]) => apis.map(api => api.id).toSorted()
const found = async (query: Query) => (await listApis({ size: 100, ...query })).content

describe('the filters of the list', () => {
  // Five APIs that differ in every filterable property. The filter `text` excludes all other APIs.
  const bank = unique('bank')
  const [owner, staging, production, product] = [uuid(), uuid(), uuid(), uuid()]
  let cards: Api, loans: Api, savings: Api, foreign: Api, archive: Api
  const byName = (api: Api) =>
    ['cards', 'loans', 'savings', 'foreign', 'archive'].find(name => api.name.endsWith(name))
  const names = async (query: Query) =>
    (await found({ ...query, text: `${bank} ${query.text ?? ''}` })).map(byName).toSorted()

  beforeAll(async () => {
    const create = (name: string, fields: Partial<Api>) => createApi({ name: `${bank}-${name}`, ...fields })
    ;[cards, loans, savings, foreign, archive] = await Promise.all([
      create('cards', {
        description: 'Debit and CREDIT cards',
        tags: ['retail', 'money'],
        platformType: 'ENVOY',
        owner,
      }),
      create('loans', {
        description: 'Credit over 100% of 5_years',
        tags: ['retail'],
        platformType: 'KONG',
        owner,
      }),
      create('savings', { description: null, tags: ['money', 'retail', 'slow'], platformType: 'ENVOY' }),
      create('foreign', { description: 'Überweisung ins Ausland', tags: [], status: 'INACTIVE', owner }),
      create('archive', {
        description: 'What was',
        tags: ['moneyed'],
        status: 'INACTIVE',
        platformType: 'KONG',
      }),
    ])
    await Promise.all([deploy(cards, staging), deploy(loans, production), deploy(foreign, production)])
    await deploy(cards, production)
    for (const api of [cards, savings, foreign]) {
      ;(await publish(platformEvent('PRODUCT_API_ADDED', { product, api: api.id }))).is(202)
    }
  })

  test.for<[string, Query, string[]]>([
    ['no filter', {}, ['archive', 'cards', 'foreign', 'loans', 'savings']],
    ['status', { status: 'ACTIVE' }, ['cards', 'loans', 'savings']],
    ['the other status', { status: 'INACTIVE' }, ['archive', 'foreign']],
    ['owner', { owner }, ['cards', 'foreign', 'loans']],
    ['platformType', { platformType: 'ENVOY' }, ['cards', 'savings']],
    ['platformType in another case', { platformType: 'envoy' }, []],
    ['one tag, matched as a whole', { tags: 'money' }, ['cards', 'savings']],
    ['all of several tags', { tags: 'retail,money' }, ['cards', 'savings']],
    ['a repeated tags parameter', { tags: ['retail', 'money', 'slow'] }, ['savings']],
    ['a tag that only another API has', { tags: 'slow,moneyed' }, []],
    ['environment', { environment: staging }, ['cards']],
    ['another environment', { environment: production }, ['cards', 'foreign', 'loans']],
    ['an environment without APIs', { environment: uuid() }, []],
    ['deployed=true', { deployed: true }, ['cards', 'foreign', 'loans']],
    [
      'deployed=false, which filters nothing',
      { deployed: false },
      ['archive', 'cards', 'foreign', 'loans', 'savings'],
    ],
    ['notDeployed=true', { notDeployed: true }, ['archive', 'savings']],
    ['product', { product }, ['cards', 'foreign', 'savings']],
    ['a product without APIs', { product: uuid() }, []],
    ['text of a name', { text: 'savings' }, ['savings']],
    ['text of a description', { text: 'debit' }, ['cards']],
    ['text in another case', { text: 'cReDiT' }, ['cards', 'loans']],
    ['non-ASCII text in another case', { text: 'überWEISUNG' }, ['foreign']],
    ['text within words', { text: 'edi' }, ['cards', 'loans']],
    ['text of two letters', { text: 'üb' }, ['foreign']],
    ['text of one character', { text: '%' }, ['loans']],
    ['text whose terms are in name and description', { text: 'CARDS debit' }, ['cards']],
    ['text with several spaces between its terms', { text: '  credit \t over ' }, ['loans']],
    ['text with a term that does not occur', { text: 'credit nowhere' }, []],
    ['text with a percent sign', { text: '100%' }, ['loans']],
    ['text with a percent sign inside a word', { text: 'cr%it' }, []],
    ['text with an underscore', { text: '5_y' }, ['loans']],
    ['text with an underscore for a letter', { text: 'cr_dit' }, []],
    ['text like a regular expression', { text: 'c.*t' }, []],
    ['text with quotes', { text: `"credit" ' --` }, []],
    ['text with a backslash', { text: '\\' }, []],
    ['text with an asterisk', { text: 'credit*' }, []],
  ])('keep by %s', async ([, query, expected]) => {
    expect(await names(query)).toEqual(expected)
  })

  test.for<[Query, number]>([
    [{}, 5],
    [{ status: 'ACTIVE', tags: 'retail' }, 3],
    [{ text: 'credit' }, 2],
    [{ text: 'nowhere' }, 0],
  ])('have facets whose counts are those of the lists: %j', async ([query, count]) => {
    type Facet = { value: string | boolean; count: number; displayName?: string | null }
    const text = `${bank} ${query.text ?? ''}`
    const answer = await admin.get('/apis/facets', { ...query, text })
    const { totalElements, ...facets } = answer.as<Record<string, Facet[]> & { totalElements: number }>(200)
    expect(totalElements).toBe(count)
    for (const [facet, values] of Object.entries(facets)) {
      for (const { value, count } of values.filter(({ value }) => value !== false)) {
        if (facet === 'deploymentStatus') continue
        const given = facet === 'tags' && query.tags ? [query.tags, value] : value
        const { totalElements: listed } = await listApis({ ...query, text, [facet]: given } as Query)
        expect(listed, `${facet} ${value}`).toBe(count)
      }
      expect(values.map(({ count }) => count)).toEqual(
        values.map(({ count }) => count).toSorted((a, b) => b - a),
      )
    }
    if (count === 5) {
      expect(facets.status).toEqual([
        { value: 'ACTIVE', count: 3 },
        { value: 'INACTIVE', count: 2 },
      ])
      expect(facets.owner?.[0]).toEqual({ value: owner, displayName: null, count: 3 })
      expect(facets.environment).toContainEqual({ value: staging, count: 1 })
      expect(facets.deployed).toEqual([
        { value: true, count: 3 },
        { value: false, count: 2 },
      ])
    }
  })

  test('keep by name, exactly', async () => {
    const { name, id } = cards
    expect(ids(await found({ name }))).toEqual([id])
    expect(await found({ name: name.toUpperCase() })).toEqual([])
    expect(await found({ name: name.slice(0, -1) })).toEqual([])
  })

  test('reflect an update immediately', async () => {
    const api = await createApi({ name: unique('changing'), tags: ['old'], description: 'before' })
    const { name, displayName } = api
    const changes = { status: 'INACTIVE', tags: ['new'], description: 'after' }
    ;(await admin.put(`/apis/${api.id}`, { name, displayName, ...changes })).is(200)
    for (const gone of [{ tags: 'old' }, { text: 'before' }, { status: 'ACTIVE' }])
      expect(await found({ name, ...gone })).toEqual([])
    expect(ids(await found({ name, tags: 'new', text: 'after', status: 'INACTIVE' }))).toEqual([api.id])
  })

  test.for<[string, Query]>([
    ['an owner that is no UUID', { owner: 'grace' }],
    ['a product that is no UUID', { product: '7' }],
    ['an unknown status', { status: 'SLEEPING' }],
    ['deployed=perhaps', { deployed: 'perhaps' }],
    ['includeDeployedOn=1.5', { includeDeployedOn: '1.5' }],
    ['includeRunningJobs=maybe', { includeRunningJobs: 'maybe' }],
  ])('refuse %s', async ([, query]) => {
    ;(await admin.get('/apis', query)).refused(400)
  })

  test('leave deployments out of the records by default', async () => {
    const [bare] = await found({ name: cards.name })
    expect(bare).not.toHaveProperty('deployedOn')
    expect(bare).not.toHaveProperty('runningJobs')
    const [full] = await found({ name: cards.name, includeDeployedOn: true, includeRunningJobs: true })
    expect(full?.deployedOn?.map(on => on.environment).toSorted()).toEqual([staging, production].toSorted())
    expect(full?.runningJobs).toEqual([])
    expect((await found({ name: archive.name, includeDeployedOn: true }))[0]?.deployedOn).toEqual([])
  })
})

describe('the pages of the list', () => {
  const shelf = unique('shelf')
  beforeAll(async () => {
    await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        createApi({
          name: `${shelf}-${String.fromCharCode(97 + n)}`,
          displayName: n < 8 ? 'Same' : `Other ${n % 2}`,
        }),
      ),
    )
  })
  const letters = (apis: Api[]) => apis.map(api => api.name.at(-1)).join('')

  test('start at 1, have ten items, and are sorted by name by default', async () => {
    const page = await listApis({ text: shelf })
    expect(page).toMatchObject({ size: 10, number: 1, totalPages: 2, totalElements: 12, last: false })
    expect(letters(page.content)).toBe('abcdefghij')
  })

  test.for([
    [1, 5, 'abcde', false],
    [2, 5, 'fghij', false],
    [3, 5, 'kl', true],
    [2, 6, 'ghijkl', true],
    [12, 1, 'l', true],
    [1, 100, 'abcdefghijkl', true],
  ] as const)('page %i of size %i is %s', async ([number, size, content, last]) => {
    const page = await listApis({ text: shelf, page: number, size })
    expect(page).toMatchObject({ size, number, totalElements: 12, totalPages: Math.ceil(12 / size), last })
    expect(letters(page.content)).toBe(content)
  })

  test('beyond the last one are empty and marked as last; an empty list has none', async () => {
    const empty = { content: [], last: true }
    for (const number of [4, 1000])
      expect(await listApis({ text: shelf, page: number, size: 5 })).toEqual({
        ...empty,
        ...{ size: 5, number, totalPages: 3, totalElements: 12 },
      })
    const page = await listApis({ text: `${shelf} nothing` })
    expect(page).toEqual({ ...empty, size: 10, number: 1, totalPages: 0, totalElements: 0 })
  })

  test.for<[string, Query]>([
    ['page 0', { page: 0 }],
    ['page -1', { page: -1 }],
    ['page 1.5', { page: '1.5' }],
    ['page one', { page: 'one' }],
    ['an empty page', { page: '' }],
    ['a page number of 400 digits', { page: '9'.repeat(400) }],
    ['size 0', { size: 0 }],
    ['size 101', { size: 101 }],
    ['size -5', { size: -5 }],
    ['size ten', { size: 'ten' }],
    ['two sizes', { size: [5, 6] }],
    ['sorting by an unknown property', { sort: 'colour,asc' }],
    ['sorting by a property that is not listed', { sort: '__proto__,asc' }],
    ['sorting in an unknown direction', { sort: 'name,upwards' }],
    ['sorting by more than ten properties', { sort: Array.from({ length: 11 }, () => 'name,asc') }],
  ])('%s is refused', async ([, query]) => {
    ;(await admin.get('/apis', query)).refused(400)
  })

  test('are sorted in descending order, by a second property where the first is equal, and by creation time', async () => {
    const sorted = async (sort: string | string[]) =>
      (await listApis({ text: shelf, sort, size: 100 })).content
    expect(letters(await sorted('name,desc'))).toBe('lkjihgfedcba')
    expect(letters(await sorted(['displayName,asc', 'name,desc']))).toBe('kilj' + 'hgfedcba')
    const times = (await sorted('createdAt,desc')).map(api => api.createdAt)
    expect(times).toEqual(times.toSorted().toReversed())
  })

  test('neither repeat nor skip items that are equal in the sort order', async () => {
    for (const sort of ['displayName,asc', 'displayName,desc', 'status,asc']) {
      const pages = await Promise.all(
        [1, 2, 3, 4].map(page => listApis({ text: shelf, sort, page, size: 3 })),
      )
      expect(new Set(pages.flatMap(page => ids(page.content))).size).toBe(12)
    }
  })
})

test('concurrent writes are visible at once in lists and counts', async () => {
  const group = unique('group')
  const names = Array.from({ length: 16 }, (_, n) => `${group}-${n}`)
  const created = await Promise.all(
    names.map(async name => {
      const { id } = await createApi({ name })
      expect(ids(await found({ text: group }))).toContain(id)
      return id
    }),
  )
  const page = await listApis({ text: group, size: 100 })
  expect([page.totalElements, ids(page.content)]).toEqual([16, created.toSorted()])
  await Promise.all(
    created.map(async id => {
      ;(await admin.delete(`/apis/${id}`)).is(204)
      expect(ids(await found({ text: group }))).not.toContain(id)
    }),
  )
  expect((await listApis({ text: group })).totalElements).toBe(0)
})

test('an item of the list equals the record that GET returns', async () => {
  const api = await createApi({ description: 'One', tags: ['a'] })
  const [item] = await found({ name: api.name })
  expect(item).toMatchObject({ id: api.id, name: api.name, description: 'One', tags: ['a'], hasImage: false })
  expect(await readApi(api.id)).toMatchObject({ ...item })
})
