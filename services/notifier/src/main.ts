import { runService } from '@gantry/hosting'
import { notifierService, notifierSettings } from './index.ts'

await runService({
  name: 'notifier',
  settings: notifierSettings,
  environment: process.env,
  make: (dependencies, settings) => notifierService(dependencies, settings),
})
