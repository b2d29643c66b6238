import { runService } from '@gantry/hosting/service'
import { notifierProcessSettings, notifierService } from './index.ts'

await runService({
  name: 'notifier',
  settings: notifierProcessSettings,
  environment: process.env,
  messages: settings => ({
    retentionMs: settings.MESSAGE_RETENTION,
    replicas: settings.MESSAGING_REPLICAS,
    needed: { setting: 'WEBHOOK_RETENTION', ms: settings.WEBHOOK_RETENTION },
  }),
  make: (dependencies, settings) => notifierService(dependencies, settings),
})
