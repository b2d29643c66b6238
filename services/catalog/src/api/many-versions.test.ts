import { PersistentMap } from '@gantry/event-sourcing'
import { storyMetadata as metadata } from '@gantry/event-sourcing/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { apiInput } from '../testing/api-input.ts'
import { type ApiCommand, apiDecider } from './api.decide.ts'
import { projectApi } from './api.projection.ts'
import type { ApiState } from './api.ts'

const API = '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10'
const input = { displayName: null, description: null, status: 'ACTIVE' } as const
const create: ApiCommand = { type: 'CreateApi', metadata, id: API, input: apiInput }

/** Decides on a state, folds the events and projects them, as a command does, but without stores. */
function execute({ state, revision }: { state: ApiState; revision: number }, command: ApiCommand) {
  const events = apiDecider.decide(state, command)
  let after = { state, revision }
  for (const event of events) {
    const next = apiDecider.evolve(after.state, event, after.revision + 1, command.metadata.actor)
    apiDecider.describe?.(after.state, event, next)
    after = { state: next, revision: after.revision + 1 }
  }
  projectApi(API, after, events)
  return after
}

const version = (name: string) => ({ ...input, name })
const createVersion = (id: string, name: string): ApiCommand => ({
  type: 'CreateVersion',
  metadata,
  api: API,
  id,
  input: version(name),
  limit: 0,
})
const renameVersion = (id: string, name: string): ApiCommand => ({
  type: 'UpdateVersion',
  metadata,
  version: id,
  input: version(name),
})

test('creating, renaming and deleting a version reads no other version of the API', () => {
  let api = execute({ state: apiDecider.initial, revision: -1 }, create)
  for (let n = 0; n < 20; n++) api = execute(api, createVersion(`v${n}`, `1.${n}`))
  const reads = (['keys', 'values', Symbol.iterator] as const).map(name =>
    vi.spyOn(PersistentMap.prototype, name),
  )
  onTestFinished(() => {
    vi.restoreAllMocks()
  })
  api = execute(api, createVersion('v', '2.0'))
  api = execute(api, renameVersion('v', '2.1'))
  execute(api, { type: 'DeleteVersion', metadata, version: 'v' })
  // A copy of the versions, or a search among them, would iterate over them.
  expect(reads.flatMap(({ mock }) => mock.calls)).toEqual([])
})

test('creating, renaming or deleting a version does not modify the earlier state', () => {
  const begun = execute({ state: apiDecider.initial, revision: -1 }, create)
  const one = execute(begun, createVersion('v1', '1.0'))
  const before = JSON.stringify(one.state)
  execute(one, createVersion('v2', '2.0'))
  execute(one, renameVersion('v1', '1.1'))
  execute(one, { type: 'DeleteVersion', metadata, version: '1.0' })
  expect(JSON.stringify(one.state)).toBe(before)
  expect(before).toContain('"1.0"')
  expect(() => execute(one, { type: 'DeleteVersion', metadata, version: '1.1' })).toThrow('version-not-found')
  expect(() => execute(one, { type: 'DeleteVersion', metadata, version: '1.0' })).not.toThrow()
})
