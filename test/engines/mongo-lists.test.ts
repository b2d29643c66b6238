import { catalogService, catalogSettings } from '@gantry/catalog'
import { createApi, createWebhook, OPERATIONS, type Operation } from '@gantry/contracts'
import { identityService, identitySettings } from '@gantry/identity'
import { notifierService, notifierSettings } from '@gantry/notifier'
import type { CollectionDefinition, Document, Query, ReadModels } from '@gantry/read-models'
import { mongoReadModels } from '@gantry/read-models-mongo'
import { lookInto } from '@gantry/read-models-mongo/testing'
import { type Dependencies, readSettings, type Service } from '@gantry/service-kit'
import { type Host, hostService } from '@gantry/service-kit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import type { Engine } from './src/engine.ts'
import { findMongo } from './src/find-mongo.ts'

const found = await findMongo()
if (!found.found) process.stderr.write(`Lists on MongoDB: skipped, there is none. To have it, ${found.how}\n`)

const MAKERS: Record<string, (dependencies: Dependencies) => Service> = {
  catalog: dependencies => catalogService(dependencies, readSettings(catalogSettings, {})),
  identity: dependencies => identityService(dependencies, readSettings(identitySettings, {})),
  notifier: dependencies => notifierService(dependencies, readSettings(notifierSettings, {})),
}

interface Asked {
  collection: string
  query: Query
}

const lists = OPERATIONS.filter(({ query }) => query && 'sort' in query.shape && 'page' in query.shape)
const NEITHER_FILTER = /^(page|size|sort|include\w+)$/
/** Of these the first that a filter takes: something it restricts to. */
const VALUES = [
  'true',
  '2026-11-21T10:00:00.000Z',
  '3f6c1a52-0000-4000-8000-000000000001',
  'ACTIVE',
  'SUCCESS',
  'USER',
  'word',
]

const shapeOf = ({ query }: Operation): Record<string, z.ZodType> => query?.shape ?? {}

/** What the document of the interface says that a list may be sorted by. */
const sortableBy = (operation: Operation): string[] =>
  (shapeOf(operation).sort?.meta()?.description ?? '').replace(/^.*properties: /, '').split(', ')

function filtersOf(operation: Operation): string[] {
  const names = Object.keys(shapeOf(operation)).filter(name => !NEITHER_FILTER.test(name))
  return names.map(name => {
    const value = VALUES.find(value => shapeOf(operation)[name]?.safeParse(value).success)
    if (value === undefined) throw new Error(`no value for the filter ${name} of ${operation.id}`)
    return `${name}=${encodeURIComponent(value)}`
  })
}

/** Every list, each way it may be sorted, and each filter by itself: FerretDB does without indexes, MongoDB does not. */
describe.each(found.found ? [found] : [])('lists on $description', ({ start }) => {
  let engine: Engine
  let indexes: Map<string, string[]>
  const hosts = new Map<string, Host<Service>>()
  const asked: Asked[] = []

  /** Read models that note what they are asked for. */
  const noting = (readModels: ReadModels): ReadModels => ({
    ...readModels,
    collection<D extends Document>(definition: CollectionDefinition<D>) {
      const collection = readModels.collection(definition)
      return {
        ...collection,
        find(query: Query) {
          asked.push({ collection: `${definition.name}.v${definition.version}`, query })
          return collection.find(query)
        },
      }
    },
  })

  /** @returns the id of what the example of the operation makes */
  const post = async ({ service, path, bodyExample }: Operation): Promise<string> => {
    const request = { method: 'POST', url: path, payload: bodyExample as object } as const
    const answer = await hosts.get(service)?.app.inject(request)
    expect(answer?.json()).toHaveProperty('id')
    return answer?.json().id
  }

  beforeAll(async () => {
    engine = await start()
    for (const [name, make] of Object.entries(MAKERS)) {
      const readModels = mongoReadModels({ url: engine.url, indexes: true })
      const onMongo = (dependencies: Dependencies) =>
        make({ ...dependencies, readModels: noting(readModels) })
      hosts.set(name, await hostService(onMongo, { start: false }))
    }
    const api = await post(createApi)
    const webhook = await post(createWebhook)
    for (const operation of lists) {
      const path = operation.path.replace('{api_id}', api).replace(/\{\w+\}/, webhook)
      const sorts = sortableBy(operation).flatMap(name => [`sort=${name},asc`, `sort=${name},desc`])
      for (const query of [...sorts, ...filtersOf(operation)]) {
        const answer = await hosts.get(operation.service)?.app.inject(`${path}?${query}`)
        expect([operation.id, query, answer?.statusCode]).toEqual([operation.id, query, 200])
      }
    }
    const { close, indexes: indexesOf } = lookInto({ url: engine.url })
    const names = [...new Set(asked.map(({ collection }) => collection))]
    indexes = new Map(await Promise.all(names.map(async name => [name, await indexesOf(name)] as const)))
    await close()
  }, 120_000)
  afterAll(async () => {
    await Promise.all([...hosts.values()].map(host => host.close()))
    await engine?.stop()
  })

  test('are looked at, all of them', () => {
    expect(lists.length).toBeGreaterThan(5)
    expect(new Set(lists.map(({ service }) => service))).toEqual(new Set(hosts.keys()))
    expect(asked.length).toBeGreaterThan(60)
  })

  test('have an index for every filter', () => {
    const missing = asked.flatMap(({ collection, query: { where = {}, text = [] } }) => {
      const fields = [
        ...Object.keys(where).map(field => `doc.${field} 1`),
        ...(text.length > 0 ? ['parts 1'] : []),
      ]
      return fields
        .filter(field => !indexes.get(collection)?.some(index => `${index},`.startsWith(`live 1, ${field},`)))
        .map(field => `${collection}: ${field}`)
    })
    expect(missing).toEqual([])
  })

  test('have an index in whose order they are, so that a page costs no more in a longer list', () => {
    const missing = asked.flatMap(({ collection, query: { sort = [] } }) => {
      const order = sort.map(({ field, direction }) => `doc.${field} ${direction === 'asc' ? 1 : -1}`)
      const wanted = ['live 1', ...order, '_id 1'].join(', ')
      return indexes.get(collection)?.includes(wanted) ? [] : [`${collection}: ${wanted}`]
    })
    expect(missing).toEqual([])
  })
})
