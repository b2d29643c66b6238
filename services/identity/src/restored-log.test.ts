import { expectWaitOnRestoredLog, hostService } from '@gantry/service-kit/testing'
import { onTestFinished, test } from 'vitest'
import { identityService } from './app.ts'

test('identity is not ready while its log ends before the last event that it has published', async () => {
  const host = await hostService(dependencies =>
    identityService(dependencies, { PLATFORM_JWT_USER_CLAIM: 'sub', SIGNING_KEY_ROTATION: 0 }),
  )
  onTestFinished(() => host.close())
  await expectWaitOnRestoredLog(host)
})
