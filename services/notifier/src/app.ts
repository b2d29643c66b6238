import { requests, subjects } from '@gantry/contracts'
import { newest, Projector } from '@gantry/event-sourcing'
import {
  type Dependencies,
  instrumented,
  responder,
  router,
  type Service,
  serviceFrom,
  userNames,
} from '@gantry/service-runtime'
import { Deliveries } from './delivery/deliveries.ts'
import { deliveries as deliveryDocuments } from './delivery/delivery.projection.ts'
import { deliveryRoutes } from './delivery/delivery.routes.ts'
import { delivering, type ExternalDependencies } from './dispatch/delivering.ts'
import { healths } from './dispatch/health.ts'
import { startLostAttempts } from './dispatch/lost-attempts.ts'
import { SCHEDULER } from './dispatch/scheduler.ts'
import { downloads } from './http/download.ts'
import { intake, platformEventRoutes } from './platform-event/intake.ts'
import { platformEventDecider } from './platform-event/platform-event.ts'
import { publicEvents } from './public-events.ts'
import { reactionOf } from './reactions.ts'
import { startRecoverer } from './recovery/recoverer.ts'
import { Recoveries, recoveries as recoveryDocuments } from './recovery/recovery.projection.ts'
import { recoveryRoutes } from './recovery/recovery.routes.ts'
import type { NotifierSettings } from './settings.ts'
import { KnownUsers, knownUsers } from './user/known-users.ts'
import { startOwnerChecks } from './webhook/owner-checks.ts'
import { owners as ownersOf } from './webhook/owners.ts'
import { resealing } from './webhook/reseal.ts'
import { signingKeys } from './webhook/signing.ts'
import { historyRoutes, temporalWebhooks, webhookHistory } from './webhook/webhook.history.ts'
import { webhooks as webhookDocuments, webhookPeriods } from './webhook/webhook.projection.ts'
import { webhookRoutes } from './webhook/webhook.routes.ts'
import { Webhooks } from './webhook/webhooks.ts'

/** The read models of the notifier, without the periods of webhooks. */
const PROJECTED = {
  name: 'notifier.projector',
  collections: [webhookDocuments, deliveryDocuments, recoveryDocuments, knownUsers],
}

/** The notifier: webhooks, deliveries, recoveries, and events of the platform. */
export function notifierService(
  given: Dependencies,
  settings: NotifierSettings,
  externals: Partial<ExternalDependencies> = {},
): Service {
  const dependencies = instrumented(given)
  const { readModels, bus, now, newId, encryptionKeys, process } = dependencies
  const { log, holder } = process
  const { leases } = readModels
  const rules = { schedule: settings.WEBHOOK_RETRY_SCHEDULE, retentionMs: settings.WEBHOOK_RETENTION }

  const startedAt = now().toISOString()
  const projector = new Projector({ ...dependencies, ...process, ...PROJECTED })
  const caughtUp = () => projector.caughtUp
  const periods = temporalWebhooks(dependencies, settings.WEBHOOK_ALLOWED_CIDRS)
  const storing = { ...dependencies, projector }
  const webhooks = new Webhooks(storing, settings.WEBHOOK_ALLOWED_CIDRS, settings.MAX_WEBHOOKS_PER_OWNER)
  const deliveries = new Deliveries(storing, rules, settings.PUBLIC_URL)
  const recoveries = new Recoveries(storing, rules)
  const users = new KnownUsers(storing)
  const keys = signingKeys(encryptionKeys)
  const delivered = { deliveries, webhooks, keys, settings, dependencies, externals }
  const { dispatcher, ...delivery } = delivering(delivered)
  process.alone?.backlogs.push(() => dispatcher.behind)
  const documents = downloads({ ...externals, allowed: settings.WEBHOOK_ALLOWED_CIDRS })
  const owners = ownersOf({ users, webhooks, ...process })
  const receive = intake(dependencies)
  const names = userNames(dependencies)
  const reseal = resealing({ ...dependencies, webhooks, projector, keys })
  const reaction = reactionOf({ webhooks, projector, dispatcher, owners, receive, newId, now, log })

  return serviceFrom(dependencies, {
    name: 'notifier',
    projectors: [projector, periods.projector],
    routes(app, admit) {
      const route = router(app, admit, dependencies, 'notifier')
      const records = periods.moments(webhooks.documents, webhookPeriods)
      const health = healths({ deliveries, now, rules: externals.breaker })
      webhookRoutes(route, { webhooks, records, owners, keys, healths: health, now, deliveries, dispatcher })
      historyRoutes(route, {
        history: readModels.collection(webhookHistory),
        upToDate: periods.upToDate,
        ...names,
      })
      deliveryRoutes(route, { deliveries, webhooks, dispatcher })
      recoveryRoutes(route, { recoveries, webhooks, deliveries, bus })
      platformEventRoutes(route, receive)
    },
    publication: {
      streamPrefixes: ['webhook-', 'platformevent-', 'delivery-', 'recovery-'],
      publicEvents: fact => publicEvents(newest(platformEventDecider.events, fact)),
      subjects: [subjects.events('notifier', '*'), subjects.events('platform', '*')],
    },
    reactors: [reaction],
    workers: [
      names.listen,
      () => {
        dispatcher.start()
        return { name: SCHEDULER, stop: () => delivery.release() }
      },
      ...(process.alone ? [() => startLostAttempts({ dispatcher, startedAt, caughtUp, log })] : []),
      () => startRecoverer({ recoveries, webhooks, deliveries, dispatcher, bus, leases, holder, log }),
      () => startOwnerChecks({ owners, caughtUp, leases, holder, log }),
    ],
    responders: [
      responder(requests.reseal('notifier'), reseal),
      responder(requests.fetchDocument, ({ url }) => documents.get(url)),
    ],
    async drain() {
      await Promise.all([delivery.stop(), documents.close()])
    },
  })
}
