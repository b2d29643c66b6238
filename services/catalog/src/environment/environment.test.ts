import { join } from 'node:path'
import type { EnvironmentInput } from '@gantry/contracts'
import { storyMetadata as metadata, story, testFrozenStreams } from '@gantry/event-sourcing/testing'
import { expect, test } from 'vitest'
import { type EnvironmentCommand, environmentDecider } from './environment.decide.ts'
import { projectEnvironment } from './environment.projection.ts'
import type { EnvironmentEvent } from './environment.ts'

testFrozenStreams({
  folder: join(import.meta.dirname, '../frozen'),
  category: 'environment',
  decider: environmentDecider,
  project: projectEnvironment,
})

const { given } = story(environmentDecider)
const id = '9c1c3a52-7d0e-4a53-8a3e-0d9b9f0f7c21'
const input: EnvironmentInput = { name: 'production', displayName: null, position: 3 }
const register: EnvironmentCommand = { type: 'RegisterEnvironment', metadata, id }
const name = (changes: object = {}, ifMatch?: number[]): EnvironmentCommand => ({
  ...{ type: 'NameEnvironment', metadata, id, input: { ...input, ...changes } },
  ifMatch,
})
const registered: EnvironmentEvent = {
  type: 'EnvironmentRegistered',
  data: { id, registeredAt: metadata.now },
}
const named = (changes: object = {}): EnvironmentEvent => ({
  type: 'EnvironmentNamed',
  data: { id, ...input, displayName: input.name, ...changes, namedAt: metadata.now },
})

test('an environment is registered once, without a name', () => {
  given().when(register).then(registered)
  const { state } = given(registered)
  expect(state).toMatchObject({ record: { id, name: null, displayName: null, position: null } })
  given(registered).when(register).then()
  given(named()).when(register).then()
})

test('its display name is its name by default, and its first name registers it', () => {
  given().when(name()).then(named())
  given(registered)
    .when(name({ displayName: 'Live' }))
    .then(named({ displayName: 'Live' }))
  given(named()).when(name()).then()
})

test('If-Match refuses a change of another revision', () => {
  given(registered)
    .when(name({}, [1]))
    .then(named())
  given(registered, named())
    .when(name({ position: 1 }, [1]))
    .thenRefused('precondition-failed')
})
