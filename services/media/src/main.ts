import { runService } from '@gantry/hosting/service'
import { mediaService, mediaSettings } from './index.ts'

await runService({
  name: 'media',
  settings: mediaSettings,
  environment: process.env,
  make: (dependencies, settings) =>
    mediaService({ ...dependencies, blobs: dependencies.blobs(settings) }, settings),
})
