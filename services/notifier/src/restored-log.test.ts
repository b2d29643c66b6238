import { expectWaitOnRestoredLog, hostService } from '@gantry/service-kit/testing'
import { onTestFinished, test } from 'vitest'
import { notifierService } from './app.ts'
import { notifierSettings } from './settings.ts'

test('the notifier is not ready while its log is older than its published events', async () => {
  const host = await hostService(dependencies => notifierService(dependencies, notifierSettings.parse({})))
  onTestFinished(() => host.close())
  await expectWaitOnRestoredLog(host)
})
