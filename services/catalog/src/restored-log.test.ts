import { hostService, openOnRestoredLog } from '@gantry/service-kit/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { catalogService } from './app.ts'
import { catalogSettings } from './settings.ts'

test('catalog is not ready while its log is older than what it has published', async () => {
  const host = await hostService(dependencies => catalogService(dependencies, catalogSettings.parse({})))
  onTestFinished(() => host.close())
  await vi.waitFor(() => expect(host.service.waitingFor()).toBeUndefined(), { timeout: 15_000 })
  await openOnRestoredLog(host)
  await vi.waitFor(
    () =>
      expect(host.service.waitingFor()).toMatch(
        /^an operator: the log ends before message .* .events\.catalog\./,
      ),
    { timeout: 15_000 },
  )
  const { statusCode, body } = await host.app.inject('/health/ready')
  expect({ statusCode, body }).toMatchObject({
    statusCode: 503,
    body: expect.stringContaining('Restoring the log'),
  })
})
