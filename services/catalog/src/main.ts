import { runService } from '@gantry/hosting/service'
import { catalogProcessSettings, catalogService } from './index.ts'

await runService({
  name: 'catalog',
  settings: catalogProcessSettings,
  environment: process.env,
  make: (dependencies, settings) => catalogService(dependencies, settings),
})
