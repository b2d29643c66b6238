import { join } from 'node:path'
import { testFrozenStreams } from '@gantry/event-sourcing/testing'
import { deliveryDecider } from './delivery/delivery.decide.ts'
import { projectDelivery } from './delivery/delivery.projection.ts'
import { platformEventDecider } from './platform-event/platform-event.ts'
import { recoveryDecider } from './recovery/recovery.decide.ts'
import { projectRecovery } from './recovery/recovery.projection.ts'
import { projectKnownUser } from './user/known-user.projection.ts'
import { knownUserDecider } from './user/known-user.ts'
import { webhookDecider } from './webhook/webhook.decide.ts'
import { projectWebhook } from './webhook/webhook.projection.ts'

const folder = join(import.meta.dirname, 'frozen')
const rules = { schedule: [], retentionMs: 0 }
const isExpired = () => false

testFrozenStreams({ folder, category: 'webhook', decider: webhookDecider([]), project: projectWebhook })
testFrozenStreams({
  folder,
  category: 'delivery',
  decider: deliveryDecider(rules),
  project: projectDelivery(isExpired),
})
testFrozenStreams({ folder, category: 'recovery', decider: recoveryDecider(rules), project: projectRecovery })
testFrozenStreams({ folder, category: 'platformevent', decider: platformEventDecider })
testFrozenStreams({ folder, category: 'knownuser', decider: knownUserDecider, project: projectKnownUser })
