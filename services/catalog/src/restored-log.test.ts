import { expectWaitOnRestoredLog, hostService } from '@gantry/service-kit/testing'
import { onTestFinished, test } from 'vitest'
import { catalogService } from './app.ts'
import { catalogSettings } from './settings.ts'

test('catalog is not ready while its log ends before the last event that it has published', async () => {
  const host = await hostService(dependencies => catalogService(dependencies, catalogSettings.parse({})))
  onTestFinished(() => host.close())
  await expectWaitOnRestoredLog(host)
})
