import { expectWaitOnRestoredLog, hostService } from '@gantry/service-kit/testing'
import { onTestFinished, test } from 'vitest'
import { cheapIdentity } from './testing/identity-host.ts'

test('identity is not ready while its log ends before the last event that it has published', async () => {
  const host = await hostService(dependencies => cheapIdentity(dependencies))
  onTestFinished(() => host.close())
  await expectWaitOnRestoredLog(host)
})
