import { describe, expect, test } from 'vitest'
import { createApi, listApis, readApi } from '../src/apis.ts'
import { admin, eventually, unique, uuid } from '../src/gantry.ts'
import type { Job, JobResult, Page } from '../src/records.ts'
import { userWithRole } from '../src/users.ts'

const started = async (input: object) => {
  const answer = await admin.post('/apis/bulk', input)
  const job = answer.as<Job>(202)
  expect(answer.headers.get('location')).toContain(`/jobs/${job.id}`)
  return job
}
const ended = ({ id }: Job) =>
  eventually(async () => {
    const job = (await admin.get(`/jobs/${id}`)).as<Job>(200)
    expect(job.finishedAt).not.toBeNull()
    return job
  })
const resultsOf = async ({ id }: Job, query = {}) =>
  (await admin.get(`/jobs/${id}/results`, query)).as<Page<JobResult>>(200)

describe.concurrent('a bulk change', () => {
  test('is a job that changes each of the APIs, with a result for each', async () => {
    const apis = [await createApi({ tags: ['draft'] }), await createApi({ tags: ['draft', 'new'] })]
    const ids = [...apis.map(({ id }) => id), uuid()]
    const job = await started({
      ids,
      change: { tags: { add: ['new'], remove: ['draft'] }, status: 'INACTIVE' },
    })
    expect(await ended(job)).toMatchObject({ status: 'COMPLETED', total: 3, done: 2, failed: 1 })
    for (const { id } of apis) expect(await readApi(id)).toMatchObject({ tags: ['new'], status: 'INACTIVE' })
    expect((await resultsOf(job)).content.map(({ item }) => item)).toEqual(ids)
    const { content } = await resultsOf(job, { status: 'FAILED' })
    expect(content).toMatchObject([{ item: ids[2], problem: { code: 'api-not-found' } }])
    const { content: jobs } = (await admin.get('/jobs', { size: 100 })).as<Page<Job>>(200)
    expect(jobs.map(({ id }) => id)).toContain(job.id)
  })

  test('by a filter deletes what the filter selects', async () => {
    const tag = unique('tag')
    await createApi({ tags: [tag] })
    await createApi({ tags: [tag], status: 'INACTIVE' })
    const filter = { tags: [tag], status: 'ACTIVE' }
    expect(await ended(await started({ filter, change: { delete: {} } }))).toMatchObject({ done: 1 })
    expect(await listApis({ tags: tag })).toMatchObject({ content: [{ status: 'INACTIVE' }] })
  })

  test('with an unknown filter, or without a change, is refused', async () => {
    for (const input of [
      { filter: { tag: 'x' }, change: { delete: {} } },
      { filter: {}, change: {} },
      { change: { delete: {} } },
    ])
      (await admin.post('/apis/bulk', input)).refused(400, 'invalid-request')
  })

  test('is cancelled once, and seen by its creator and administrators alone', async () => {
    const ids = Array.from({ length: 5_000 }, uuid)
    const { id } = await started({ ids, change: { status: 'ACTIVE' } })
    const { client } = userWithRole('USER')
    ;(await client.get(`/jobs/${id}`)).refused(404, 'job-not-found')
    const cancelled = (await admin.post(`/jobs/${id}/cancel`)).as<Job>(200)
    expect(cancelled).toMatchObject({ status: 'CANCELLED' })
    ;(await admin.post(`/jobs/${id}/cancel`)).refused(409, 'job-not-running')
  })
})
