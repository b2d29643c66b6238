import { runService } from '@gantry/hosting'
import { z } from 'zod'
import { catalogService } from './index.ts'

await runService({
  name: 'catalog',
  settings: z.object({}),
  environment: process.env,
  make: dependencies => catalogService(dependencies),
})
