import { hostService, openOnRestoredLog } from '@gantry/service-kit/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { identityService } from './app.ts'

test('identity is not ready while its log is older than what it has published', async () => {
  const host = await hostService(dependencies =>
    identityService(dependencies, { PLATFORM_JWT_USER_CLAIM: 'sub', SIGNING_KEY_ROTATION: 0 }),
  )
  onTestFinished(() => host.close())
  await vi.waitFor(() => expect(host.service.waitingFor()).toBeUndefined(), { timeout: 15_000 })
  await openOnRestoredLog(host)
  await vi.waitFor(
    () =>
      expect(host.service.waitingFor()).toMatch(
        /^an operator: the log ends before message .* .events\.identity\./,
      ),
    { timeout: 15_000 },
  )
  const { statusCode, body } = await host.app.inject('/health/ready')
  expect({ statusCode, body }).toMatchObject({
    statusCode: 503,
    body: expect.stringContaining('Restoring the log'),
  })
})
