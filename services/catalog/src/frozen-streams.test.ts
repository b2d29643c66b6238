import { join } from 'node:path'
import { appendFrozenStreams } from '@gantry/event-sourcing/testing'
import { hostService } from '@gantry/service-kit/testing'
import { expect, onTestFinished, test } from 'vitest'
import { catalogService } from './app.ts'
import { catalogSettings } from './settings.ts'

const folder = join(import.meta.dirname, 'frozen')

test.for([
  ['payments-eu', 'its API holds the name', 409],
  ['wanted', 'the API that took over the reservation holds the name', 409],
  ['payments', 'its API was renamed since', 201],
] as const)('a reservation of %s by an old release: %s, so another API gets %i', async ([name, , status]) => {
  const host = await hostService(dependencies => catalogService(dependencies, catalogSettings.parse({})), {
    start: false,
  })
  onTestFinished(() => host.close())
  await appendFrozenStreams(host.dependencies.eventStore, folder, 'efcfd61', ['api', 'apiname'])

  const payload = { name, displayName: name, status: 'ACTIVE', tags: [] }
  const answer = await host.app.inject({ method: 'POST', url: '/apis', payload })
  expect(answer.statusCode).toBe(status)
  if (status === 409) expect(answer.json().code).toBe('api-name-taken')
})
