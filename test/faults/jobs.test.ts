import { startServiceProcess } from '@gantry/standalone/testing'
import { expect, test, vi } from 'vitest'
import { call, createApi, newFolder } from './src/service.ts'

const APIS = 300
const folder = newFolder()

interface Job {
  id: string
  status: string
  done: number
  failed: number
}

test('kill -9 in the middle of a bulk change loses no item, and changes none twice', async () => {
  let service = await startServiceProcess(folder)
  const ids: string[] = []
  while (ids.length < APIS)
    ids.push(
      ...(await Promise.all(Array.from({ length: 20 }, (_, n) => createApi(service, `${ids.length}-${n}`)))),
    )
  const input = { ids, change: { tags: { add: ['bulk'] } } }
  const { id } = (await call<Job>(service, 'POST', '/apis/bulk', input)).body
  const read = async () => (await call<Job>(service, 'GET', `/jobs/${id}`)).body
  const begun = await vi.waitFor(
    async () => {
      const job = await read()
      expect(job.done).toBeGreaterThan(0)
      return job
    },
    { timeout: 60_000, interval: 1 },
  )
  expect(begun).toMatchObject({ status: 'RUNNING' })
  await service.kill()

  service = await startServiceProcess(folder)
  await vi.waitFor(async () => expect((await read()).status).toBe('COMPLETED'), { timeout: 60_000 })
  expect(await read()).toMatchObject({ done: APIS, failed: 0 })
  // The events of the job are published before that of a later change.
  const last = await createApi(service, 'last')
  const subjectsOf = async (type: string) => {
    const path = `/events?type=${type}&size=1000`
    const { body } = await call<{ content: { subject: string }[] }>(service, 'GET', path)
    return body.content.map(({ subject }) => subject)
  }
  await vi.waitFor(async () => expect(await subjectsOf('API_CREATED')).toContain(last), { timeout: 60_000 })
  expect((await subjectsOf('API_UPDATED')).toSorted()).toEqual(ids.toSorted())
  const { body: results } = await call<{ totalElements: number }>(service, 'GET', `/jobs/${id}/results`)
  expect(results.totalElements).toBe(APIS)
  expect(await service.stop()).toBe(0)
})
