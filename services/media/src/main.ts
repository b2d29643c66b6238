import { runService } from '@gantry/hosting/service'
import { mediaProcessSettings, mediaService } from './index.ts'

await runService({
  name: 'media',
  settings: mediaProcessSettings,
  environment: process.env,
  make: (dependencies, settings) =>
    mediaService({ ...dependencies, blobs: dependencies.blobs(settings) }, settings),
})
