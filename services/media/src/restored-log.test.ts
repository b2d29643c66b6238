import { join } from 'node:path'
import { folderBlobStore } from '@gantry/embedded'
import { expectWaitOnRestoredLog, hostService } from '@gantry/service-kit/testing'
import { onTestFinished, test } from 'vitest'
import { mediaService } from './app.ts'
import { mediaSettings } from './settings.ts'

test('media is not ready while its log ends before the last event that it has published', async () => {
  const host = await hostService((dependencies, folder) =>
    mediaService(
      { ...dependencies, blobs: folderBlobStore({ path: join(folder, 'images') }) },
      mediaSettings.parse({}),
    ),
  )
  onTestFinished(() => host.close())
  await expectWaitOnRestoredLog(host)
})
