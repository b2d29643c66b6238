import { randomUUID } from 'node:crypto'
import { subjects } from '@gantry/contracts'
import { LOG_POSITION } from '@gantry/event-sourcing'
import { hostService } from '@gantry/service-runtime/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { catalogService } from './app.ts'
import { catalogSettings } from './settings.ts'

test('a service is not ready while its log ends before the last event that it has published', async () => {
  const host = await hostService(dependencies => catalogService(dependencies, catalogSettings.parse({})))
  onTestFinished(() => host.close())
  await vi.waitFor(() => expect(host.service.waitingFor()).toBeUndefined())
  // As after a restore of the log from a backup: the message is about an event after the end of the log.
  const headers = { [LOG_POSITION]: '~' }
  await host.dependencies.bus.publish([
    { id: randomUUID(), subject: subjects.events('catalog', 'ANYTHING'), data: null, headers },
  ])
  await host.restart()
  const reason = /^an operator: the log ends before message .* .events\.catalog\./
  await vi.waitFor(() => expect(host.service.waitingFor()).toMatch(reason))
  const { statusCode, body } = await host.app.inject('/health/ready')
  expect(statusCode).toBe(503)
  expect(body).toContain('Restoring the log')
})
