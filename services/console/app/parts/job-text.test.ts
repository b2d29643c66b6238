import { expect, test } from 'vitest'
import { durationText, jobText } from './job-text.ts'
import type { Job } from './jobs.ts'

const job: Job = {
  ...{ id: '3c9f0b52-1f64-4b0b-9f4e-6a2d5c8b7e21', type: 'BULK', status: 'COMPLETED', total: 2, done: 2 },
  ...{ failed: 0, createdBy: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55', problem: null, change: null },
  createdAt: '2026-11-21T09:30:00.000Z',
  startedAt: '2026-11-21T09:30:00.000Z',
  finishedAt: '2026-11-21T09:33:05.000Z',
}
const of = (change: Job['change'], total = 2) => jobText({ ...job, total, change })

test('a job is named by what it does and to how many APIs', () => {
  expect(of({ tags: { add: ['reviewed'], remove: [] } })).toBe('Tag + reviewed on 2 APIs')
  expect(of({ tags: { add: ['a', 'b'], remove: ['c'] }, status: 'INACTIVE' })).toBe(
    'Tags + a, b, tag − c, status Inactive on 2 APIs',
  )
  expect(of({ delete: { undeploy: true } }, 1)).toBe('Undeployment and deletion on 1 API')
  expect(jobText({ ...job, type: 'IMPORT', total: 1200 })).toBe('Import of 1,200 items')
})

test('the duration of a job is known at its end', () => {
  expect(durationText(job)).toBe('3 min 5 s')
  expect(durationText({ ...job, finishedAt: '2026-11-21T09:30:00.240Z' })).toBe('0.2 s')
  expect(durationText({ ...job, finishedAt: null })).toBeUndefined()
})
