import { expect, test } from 'vitest'
import { createApi, createVersion } from '../src/apis.ts'
import { admin, eventually, unique, uuid } from '../src/gantry.ts'
import type { Api, Page } from '../src/records.ts'
import { createUser, PASSWORD } from '../src/users.ts'

type Found = Api & { highlights: Record<string, [number, number][]> }

/** A word of letters that no other API has. */
const word = () => uuid().replace(/[\d-]/g, digit => 'ghijklmnop'[Number(digit)] ?? '')
const capital = (text: string) => `${text[0]?.toUpperCase()}${text.slice(1)}`

const search = async (q: string, query = {}) =>
  (await admin.get('/apis', { q, ...query })).as<Page<Found>>(200)
const found = async (q: string, query = {}) => (await search(q, query)).content.map(({ id }) => id)

const documentOf = (title: string, operations: string) =>
  `openapi: 3.1.0\ninfo: {title: ${title}, version: '1'}\npaths:\n${operations}`

const put = async (path: string, body: string) => {
  const { status } = await admin.put(path, undefined, {
    body,
    headers: { 'content-type': 'application/yaml' },
  })
  expect(status).toBeLessThan(300)
}

test('an API is found by each of its texts, with the places that have the words', async () => {
  const [name, tag, about] = [word(), word(), word()]
  const api = await createApi({
    name: `get${capital(name)}ById`,
    displayName: `The ${name} service`,
    description: `About ${about}, and ${about}.`,
    tags: ['x', tag],
  })
  const version = word()
  await createVersion(api, { name: `${version}-2` })
  const [record] = (await search(`${name} ${tag}`)).content
  expect(record?.id).toBe(api.id)
  expect(record?.highlights).toMatchObject({
    displayName: [[4, 4 + name.length]],
    'tags.1': [[0, tag.length]],
  })
  const start = api.description?.indexOf(about) ?? 0
  const again = api.description?.lastIndexOf(about) ?? 0
  expect((await search(about)).content[0]?.highlights).toEqual({
    description: [
      [start, start + about.length],
      [again, again + about.length],
    ],
  })
  for (const q of [
    name,
    tag,
    about,
    version,
    about.slice(0, 12),
    `${about.slice(0, 9)}${about.slice(10)}`,
    name.toUpperCase(),
  ])
    expect(await found(q)).toEqual([api.id])

  ;(await admin.put(`/apis/${api.id}`, { ...api, description: null })).is(200)
  expect(await found(about)).toEqual([])
  ;(await admin.delete(`/apis/${api.id}`)).is(204)
  expect(await found(name)).toEqual([])
})

test('an API is found by the operations of its documents while it has them', async () => {
  const [title, summary, segment] = [word(), word(), word()]
  const api = await createApi()
  const { id } = await createVersion(api, { name: '1' })
  const path = `/apis/${api.id}/versions/${id}/documents/api.yaml`
  await put(
    path,
    documentOf(title, `  /${segment}/{${segment}Id}:\n    get: {summary: Sends ${summary}, responses: {}}`),
  )
  for (const q of [title, summary, `/${segment}/{${segment}Id}`, `send ${summary}`])
    expect(await found(q)).toEqual([api.id])
  const changed = word()
  await put(path, documentOf(title, `  /x:\n    get: {summary: Sends ${changed}, responses: {}}`))
  expect(await found(changed)).toEqual([api.id])
  expect(await found(summary)).toEqual([])
  ;(await admin.delete(path)).is(204)
  expect(await found(changed)).toEqual([])
  await put(path, documentOf(title, '  /x:\n    get: {responses: {}}'))
  expect(await found(title)).toEqual([api.id])
  ;(await admin.delete(`/apis/${api.id}/versions/${id}`)).is(204)
  await eventually(async () => expect(await found(title)).toEqual([]))
})

test('an API is found by the name of its owner, until the owner is erased', async () => {
  const names = { displayName: `Ada ${word()}`, username: unique('ada'), password: PASSWORD }
  const user = await createUser(names)
  const api = await createApi({ owner: user.id })
  const [record] = (await search(names.displayName)).content
  expect(record).toMatchObject({ id: api.id, ownerDisplayName: names.displayName })
  expect(record?.highlights.ownerDisplayName).toEqual([
    [0, 3],
    [4, names.displayName.length],
  ])
  ;(await admin.post(`/users/${user.id}/erase`)).is(200)
  await eventually(async () => expect(await found(names.displayName.slice(4))).toEqual([]))
})

test('a search combines with filters, pages, orders and facets', async () => {
  const [shared, own] = [word(), word()]
  const make = (name: string, fields: Partial<Api>) =>
    createApi({ name: `${unique(name)}`, displayName: name, description: shared, tags: [own], ...fields })
  const first = await make('b', { displayName: `b ${shared}`, status: 'INACTIVE' })
  const others = [await make('c', {}), await make('a', { tags: [own, 'more'] })]
  expect((await found(shared))[0]).toBe(first.id)
  expect(await found(shared, { sort: 'displayName,asc' })).toEqual([others[1]?.id, first.id, others[0]?.id])
  expect(await found(shared, { status: 'INACTIVE' })).toEqual([first.id])
  expect(await found(shared, { tags: `${own},more` })).toEqual([others[1]?.id])
  const pages = [await search(shared, { size: 2 }), await search(shared, { size: 2, page: 2 })]
  expect(pages.map(({ totalElements, last }) => [totalElements, last])).toEqual([
    [3, false],
    [3, true],
  ])
  expect(new Set(pages.flatMap(({ content }) => content.map(({ id }) => id))).size).toBe(3)
  const facets = (await admin.get('/apis/facets', { q: shared })).as<Record<string, unknown>>(200)
  expect(facets).toMatchObject({
    totalElements: 3,
    tags: [
      { value: own, count: 3 },
      { value: 'more', count: 1 },
    ],
  })
})

test('a search excludes text and at, and answers any q', async () => {
  const at = new Date().toISOString()
  for (const query of [{ text: 'x' }, { at }])
    (await admin.get('/apis', { q: 'x', ...query })).refused(400, 'invalid-request')
  ;(await admin.get('/apis/facets', { q: 'x', text: 'x' })).refused(400, 'invalid-request')
  for (const q of ['x'.repeat(10_000), 'a\0b'])
    (await admin.get('/apis', { q })).refused(400, 'invalid-request')
  for (const q of ['"', '?!*()', 'NEAR( OR "a', '東京', '🙂', `${'x '.repeat(249)}x`])
    (await admin.get('/apis', { q })).is(200)
  expect(await found('"?!*()')).toEqual([])
  expect((await search(' ')).totalElements).toBeGreaterThan(0)
})
