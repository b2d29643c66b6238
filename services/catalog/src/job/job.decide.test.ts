import { join } from 'node:path'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { describe, test } from 'vitest'
import { type JobCommand, jobDecider } from './job.decide.ts'
import { projectJob } from './job.projection.ts'
import type { ItemResult, JobEvent, JobTask } from './job.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'job',
  decider: jobDecider,
  project: projectJob,
})

const { given } = story(jobDecider)
const at = metadata.now
const id = '3c9f0b52-1f64-4b0b-9f4e-6a2d5c8b7e21'
const task: JobTask = { type: 'BULK', change: { status: 'INACTIVE' } }
const requested = (total: number): JobEvent => ({
  type: 'JobRequested',
  data: { id, task, total, pieces: 1, requestId: metadata.requestId, requestedAt: at },
})
const started: JobEvent = { type: 'JobStarted', data: { at } }
const completed: JobEvent = { type: 'JobCompleted', data: { at } }
const cancelled: JobEvent = { type: 'JobCancelled', data: { at } }
const removed: JobEvent = { type: 'JobInputRemoved', data: { at } }
const problem = { code: 'api-not-found', detail: 'There is no such API' } as const
const failed: JobEvent = { type: 'JobFailed', data: { problem, at } }
const updated: ItemResult = { item: 'a', status: 'UPDATED', api: 'a', problem: null }
const refused: ItemResult = { item: 'b', status: 'FAILED', api: null, problem }
const advanced = (from: number, failedFrom: number, results: ItemResult[]): JobEvent => ({
  type: 'JobAdvanced',
  data: { from, failedFrom, results, at },
})
const advance = (from: number, results: ItemResult[]): JobCommand => ({
  type: 'AdvanceJob',
  metadata,
  from,
  results,
})
const start: JobCommand = { type: 'StartJob', metadata }
const cancel: JobCommand = { type: 'CancelJob', metadata }
const fail: JobCommand = { type: 'FailJob', metadata, problem }
const removeInput: JobCommand = { type: 'RemoveInput', metadata }
const remove: JobCommand = { type: 'RemoveJob', metadata }
const gone: JobEvent = { type: 'JobRemoved', data: { at } }

describe('a job', () => {
  test('is requested once', () => {
    const request: JobCommand = { type: 'RequestJob', metadata, id, task, total: 3, pieces: 1 }
    given().when(request).then(requested(3))
    given(requested(3)).when(request).then()
  })

  test('starts once, and ends at once without items', () => {
    given(requested(3)).when(start).then(started)
    given(requested(3), started).when(start).then()
    given(requested(0)).when(start).then(started, completed)
  })

  test('ends with the result of its last item, and counts the failures before each batch', () => {
    const running = given(requested(3), started, advanced(0, 0, [updated, refused]))
    running.when(advance(2, [updated])).then(advanced(2, 1, [updated]), completed)
  })

  test('records the result of an item once', () => {
    const running = given(requested(3), started, advanced(0, 0, [updated]))
    running.when(advance(0, [refused])).then()
    running.when(advance(1, [])).then()
  })

  test('is removed after its end and its input, once', () => {
    given(requested(3), started).when(remove).then()
    given(requested(3), cancelled).when(remove).then()
    given(requested(3), cancelled, removed).when(remove).then(gone)
    given(requested(3), cancelled, removed, gone).when(remove).thenRefused('job-not-found')
  })

  test('that was cancelled records the items in progress and does not end again', () => {
    given(requested(1), started).when(cancel).then(cancelled)
    given(requested(1), started, cancelled)
      .when(advance(0, [updated]))
      .then(advanced(0, 0, [updated]))
    given(requested(1), started, cancelled).when(cancel).thenRefused('job-not-running')
    given(requested(1), started, cancelled).when(fail).then()
    given().when(cancel).thenRefused('job-not-found')
  })

  test('keeps its input until it has ended', () => {
    given(requested(1), started).when(fail).then(failed)
    given(requested(1), started).when(removeInput).then()
    given(requested(1), started, failed).when(removeInput).then(removed)
    given(requested(1), started, failed, removed).when(removeInput).then()
  })
})
