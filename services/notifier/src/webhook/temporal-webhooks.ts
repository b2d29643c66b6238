import { type Instrumented, type Temporal, temporal } from '@gantry/service-kit'
import type { Cidr } from '../http/address.ts'
import { webhookDecider } from './webhook.decide.ts'
import { projectWebhookHistory, webhookHistory } from './webhook.history.ts'
import { projectWebhookPeriods, webhookPeriods } from './webhook.projection.ts'

/** Webhooks as they were at earlier times, and their changes. */
export const temporalWebhooks = (dependencies: Instrumented, allowed: readonly Cidr[]): Temporal =>
  temporal(dependencies, {
    name: 'notifier.periods',
    category: 'webhook',
    decider: webhookDecider(allowed),
    project: projectWebhookPeriods,
    changed: projectWebhookHistory,
    collections: [webhookPeriods, webhookHistory],
  })
