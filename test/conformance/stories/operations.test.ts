import { OPERATIONS } from '@gantry/contracts'
import { expect, test } from 'vitest'
import { createApi } from '../src/apis.ts'
import { admin, service, uuid } from '../src/gantry.ts'
import { form, png } from '../src/images.ts'
import type { Page } from '../src/records.ts'

/** Guarantees of all operations of a kind, so that a new operation is tested without a change here. */

/** The name of an environment also registers it. */
const ofResources = OPERATIONS.filter(({ id, path }) => path.includes('{') && id !== 'updateEnvironment')
test.for(ofResources)('$id answers 404 for a resource that does not exist', async operation => {
  const { method, path, bodyExample, bodyMediaType } = operation
  const bodies = {
    'multipart/form-data': form(png(1, 1)),
    '*/*': 'text',
    'application/cloudevents+json': undefined,
  }
  const body = bodyMediaType && bodies[bodyMediaType]
  const options = body ? { body } : {}
  const paths = [path]
  if (/^\/apis\/\{api_id\}\/.*\{/.test(path)) paths.push(path.replace('{api_id}', (await createApi()).id))
  for (const template of paths)
    (await admin.request(method, template.replaceAll(/\{\w+\}/g, uuid), bodyExample, options)).refused(404)
})

const lists = service.contract.operations.filter(
  ({ template, definition: { parameters = [] } }) =>
    !template.includes('{') && parameters.some(each => 'name' in each && each.name === 'sort'),
)
test.for(lists)('$key has pages from 1 on with at most 100 items, 10 by default', async ({ template }) => {
  const read = async (query: object) => (await admin.get(template, { ...query })).as<Page<unknown>>(200)
  expect(await read({})).toMatchObject({ size: 10, number: 1 })
  const page = await read({ size: 2 })
  expect(page).toMatchObject({ size: 2, number: 1, totalPages: Math.ceil(page.totalElements / 2) })
  expect(page.content).toHaveLength(Math.min(2, page.totalElements))
  expect(page.last).toBe(page.totalElements <= 2)
  const beyond = await read({ size: 100, page: 1_000_000 })
  expect(beyond).toMatchObject({ content: [], number: 1_000_000, last: true })
  for (const query of [{ size: 101 }, { size: 0 }, { page: 0 }])
    (await admin.get(template, query)).refused(400, 'invalid-request')
})
