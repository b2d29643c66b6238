import { catalogService, catalogSettings } from '@gantry/catalog'
import {
  createApi,
  createVersion,
  createWebhook,
  listAuditLog,
  listAuditProofs,
  OPERATIONS,
  type Operation,
} from '@gantry/contracts'
import { identityService, identitySettings } from '@gantry/identity'
import { notifierService, notifierSettings } from '@gantry/notifier'
import type { CollectionDefinition, Document, Query, ReadModels } from '@gantry/read-models'
import { mongoReadModels } from '@gantry/read-models-mongo'
import { inspectDatabase } from '@gantry/read-models-mongo/testing'
import { readSettings, type Service } from '@gantry/service-kit'
import { type Host, type HostDependencies, hostService } from '@gantry/service-kit/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { z } from 'zod'
import type { Engine } from './src/engine.ts'
import { findMongo } from './src/find-mongo.ts'

const found = await findMongo()
if (!found.found)
  test.skip('lists on MongoDB', { meta: { skipped: `there is no MongoDB: ${found.how}` } }, () => {})

const MAKERS: Record<string, (dependencies: HostDependencies) => Service> = {
  catalog: dependencies => catalogService(dependencies, readSettings(catalogSettings, {})),
  identity: dependencies => identityService(dependencies, readSettings(identitySettings, {})),
  notifier: dependencies => notifierService(dependencies, readSettings(notifierSettings, {})),
}

// biome-ignore lint/suspicious/noExplicitAny: definitions of different documents
type Definition = CollectionDefinition<any>

interface Asked {
  collection: string
  definition: Definition
  query: Query
}

const lists = OPERATIONS.filter(({ query }) => query && 'sort' in query.shape && 'page' in query.shape)
const NEITHER_FILTER = /^(page|size|sort|include\w+)$/
/** Example values. Each filter gets the first one that it accepts. */
const VALUES = [
  'true',
  '2026-11-21T10:00:00.000Z',
  '3f6c1a52-0000-4000-8000-000000000001',
  'ACTIVE',
  'SUCCESS',
  'USER',
  'word',
]

const storedAs = ({ name, version }: Definition) => `${name}.v${version}`

const shapeOf = ({ query }: Operation): Record<string, z.ZodType> => query?.shape ?? {}

/** The properties that a list may be sorted by, according to the OpenAPI document. */
const sortableBy = (operation: Operation): string[] =>
  (shapeOf(operation).sort?.meta()?.description ?? '').replace(/^.*properties: /, '').split(', ')

function filtersOf(operation: Operation): string[] {
  const names = Object.keys(shapeOf(operation)).filter(name => !NEITHER_FILTER.test(name))
  return names.map(name => {
    if (name === 'at') return `at=${new Date().toISOString()}`
    const value = VALUES.find(value => shapeOf(operation)[name]?.safeParse(value).success)
    if (value === undefined) throw new Error(`no value for the filter ${name} of ${operation.id}`)
    return `${name}=${encodeURIComponent(value)}`
  })
}

/** Requests every list with each sort order and with each filter. FerretDB works without indexes; MongoDB needs them. */
describe.each(found.found ? [found] : [])('lists on $description', ({ kind, description, start }) => {
  let engine: Engine
  let readModels: ReadModels
  let database: ReturnType<typeof inspectDatabase>
  const indexes = new Map<string, string[]>()
  const hosts = new Map<string, Host<Service>>()
  const asked: Asked[] = []
  const definitions = new Map<string, Definition>()

  /** Read models that record their queries. */
  const noting = (readModels: ReadModels): ReadModels => ({
    ...readModels,
    collection<D extends Document>(definition: CollectionDefinition<D>) {
      const collection = readModels.collection(definition)
      definitions.set(storedAs(definition), definition)
      return {
        ...collection,
        find(query: Query) {
          asked.push({ collection: storedAs(definition), definition, query })
          return collection.find(query)
        },
      }
    },
  })

  /** @returns the id of the resource that the example request of the operation creates */
  const post = async ({ service, path, bodyExample }: Operation): Promise<string> => {
    const request = { method: 'POST', url: path, payload: bodyExample as object } as const
    const answer = await hosts.get(service)?.app.inject(request)
    expect(answer?.json()).toHaveProperty('id')
    return answer?.json().id
  }

  beforeAll(async () => {
    engine = await start()
    readModels = mongoReadModels({ url: engine.url, indexes: true })
    for (const [name, make] of Object.entries(MAKERS)) {
      const onMongo = (dependencies: HostDependencies) =>
        make({ ...dependencies, readModels: noting(readModels) })
      hosts.set(name, await hostService(onMongo, { start: false }))
    }
    // The audit log and lists of an earlier time are answered only after their projectors have caught up. Identity makes
    // the keys of the proofs when it starts.
    for (const [name, { service }] of hosts)
      await service.start(name === 'identity' ? undefined : 'projectors')
    await vi.waitFor(
      async () => {
        for (const { path } of [listAuditLog, listAuditProofs])
          expect((await hosts.get('identity')?.app.inject(path))?.statusCode).toBe(200)
      },
      { timeout: 60_000 },
    )
    const api = await post(createApi)
    const version = await post({ ...createVersion, path: createVersion.path.replace('{api_id}', api) })
    const webhook = await post(createWebhook)
    for (const operation of lists) {
      const path = operation.path
        .replace('{api_id}', api)
        .replace('{version_id}', version)
        .replace(/\{\w+\}/, webhook)
      const sorts = sortableBy(operation).flatMap(name => [`sort=${name},asc`, `sort=${name},desc`])
      for (const query of [...sorts, ...filtersOf(operation)]) {
        const answer = await hosts.get(operation.service)?.app.inject(`${path}?${query}`)
        expect([operation.id, query, answer?.statusCode]).toEqual([operation.id, query, 200])
      }
    }
    // The indexes of collections without a list are created by their first use.
    for (const definition of definitions.values()) await readModels.collection(definition).count({})
    database = inspectDatabase({ url: engine.url })
    for (const name of definitions.keys()) indexes.set(name, await database.indexes(name))
  }, 120_000)
  afterAll(async () => {
    await Promise.all([...hosts.values()].map(host => host.close()))
    await Promise.all([readModels?.close(), database?.close()])
    await engine?.stop()
  })

  test('are all requested', () => {
    expect(lists.length).toBeGreaterThan(5)
    expect(new Set(lists.map(({ service }) => service))).toEqual(new Set(hosts.keys()))
    expect(asked.length).toBeGreaterThan(60)
  })

  test('have an index for every filter', () => {
    const missing = asked.flatMap(({ collection, definition, query: { where = {}, text = [] } }) => {
      const { from, to } = definition.validity ?? {}
      const fields = [
        ...Object.keys(where).map(field => `doc.${field} 1${field === to ? `, doc.${from} 1` : ''}, live 1`),
        ...(text.length > 0 ? ['parts 1, live 1'] : []),
      ]
      return fields
        .filter(field => !indexes.get(collection)?.some(index => index.startsWith(field)))
        .map(field => `${collection}: ${field}`)
    })
    expect(missing).toEqual([])
  })

  test('have an index in their sort order, so that a page does not cost more in a longer list', () => {
    const missing = asked.flatMap(({ collection, query: { sort = [] } }) => {
      const order = sort.map(({ field, direction }) => `doc.${field} ${direction === 'asc' ? 1 : -1}`)
      const wanted = [...order, 'live 1', '_id 1'].join(', ')
      return indexes.get(collection)?.includes(wanted) ? [] : [`${collection}: ${wanted}`]
    })
    expect(missing).toEqual([])
  })

  test('have no two indexes between which the server would choose at random', () => {
    const equal = [...definitions].flatMap(([name, definition]) =>
      everyQueryOf(definition).flatMap(query => {
        const candidates = (indexes.get(name) ?? []).filter(index => isCandidate(index, query))
        expect(candidates.length).toBeGreaterThan(0)
        const served = candidates.map(index => ({ index: undirected(index), how: serviceOf(index, query) }))
        return [...Map.groupBy(served, ({ how }) => how).values()]
          .map(group => [...new Set(group.map(({ index }) => index))])
          .filter(different => different.length > 1)
          .map(different => `${name} ${JSON.stringify(query)}: ${different.join(' or ')}`)
      }),
    )
    expect(definitions.size).toBeGreaterThan(8)
    expect(equal).toEqual([])
  })

  test("are read by indexes on their own fields, according to the server's query plan", async context => {
    if (kind === 'installed') context.skip(`${description}, reads no index`)
    const chosen = await Promise.all(
      asked.map(async ({ collection, definition, query }) => ({
        list: `${collection} ${JSON.stringify(query)}`,
        indexes: await database.indexesUsed(definition, query),
        own: [...fieldsOf(query), 'live', '_id'],
      })),
    )
    const used = chosen.filter(({ indexes }) => indexes.length > 0)
    expect(used.length).toBeGreaterThan(chosen.length / 2)
    const foreign = used.filter(({ indexes, own }) =>
      indexes.some(name => fieldsIn(name).some(field => !own.includes(field))),
    )
    expect(foreign).toEqual([])
  })
})

/** Queries without a condition, with one on each field, and with a search, each in both orders of every field. */
function everyQueryOf({ fields, text = [] }: Definition): Query[] {
  const filters = [
    {},
    ...Object.keys(fields).map(field => ({ where: { [field]: 'x' } })),
    ...(text.length > 0 ? [{ text: ['x'] }] : []),
  ]
  const sortable = Object.keys(fields).filter(field => fields[field] !== 'strings')
  const orders = sortable.flatMap(field => [
    [{ field, direction: 'asc' } as const],
    [{ field, direction: 'desc' } as const],
  ])
  return filters.flatMap(filter => [[], ...orders].map(sort => ({ ...filter, sort, limit: 1 })))
}

/** Stored names of the fields that the conditions of a query are on. */
const fieldsOf = ({ where = {}, text = [], sort = [] }: Query): string[] => [
  ...Object.keys(where).map(field => `doc.${field}`),
  ...(text.length > 0 ? ['parts'] : []),
  ...(sort.length === 1 ? sort.map(({ field }) => `doc.${field}`) : []),
]

/** Fields in the name that servers give an index, e.g. doc.name_-1_live_1__id_1. */
const fieldsIn = (name: string) => name.split(/_-?1(?:_|$)/).filter(field => field !== '')

const fieldOf = (key: string) => key.split(' ')[0] ?? ''

/** The server considers an index when the query has a condition on its first field (mongo, planner_ixselect.cpp). */
const isCandidate = (index: string, query: Query) => ['live', ...fieldsOf(query)].includes(fieldOf(index))

/** An index and its reverse find the same documents at the same cost. */
const undirected = (index: string) => index.replaceAll('-1', '1')

/** What an index does for a query: the fields that bound the scan, and whether it has the order of the list. */
function serviceOf(index: string, query: Query): string {
  const { where = {}, sort = [] } = query
  const keys = index.split(', ')
  const bounding = ['live', ...fieldsOf(query)]
  const constant = ['live', ...Object.keys(where).map(field => `doc.${field}`)]
  const varying = (of: string[]) => of.filter(key => !constant.includes(fieldOf(key))).join(', ')
  const order = [
    ...sort.map(({ field, direction }) => `doc.${field} ${direction === 'asc' ? 1 : -1}`),
    '_id 1',
  ]
  const bounds = keys.map(fieldOf).filter(field => bounding.includes(field))
  return `${bounds.sort()}${varying(keys).startsWith(varying(order)) ? ' in order' : ''}`
}
