import { runService } from '@gantry/hosting/service'
import { catalogService, catalogSettings } from './index.ts'

await runService({
  name: 'catalog',
  settings: catalogSettings,
  environment: process.env,
  make: (dependencies, settings) => catalogService(dependencies, settings),
})
