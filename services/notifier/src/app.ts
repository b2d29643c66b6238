import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { subjects } from '@gantry/contracts'
import { aggregate, type CommandMetadata, newest } from '@gantry/event-sourcing'
import {
  type Dependencies,
  instrumented,
  ownMetadata,
  router,
  type Service,
  serviceFrom,
  serviceProjector,
} from '@gantry/service-kit'
import manifest from '../package.json' with { type: 'json' }
import { type DeliveryCommand, deliveryDecider, expired } from './delivery/delivery.decide.ts'
import { deliveries, projectDelivery } from './delivery/delivery.projection.ts'
import { deliveryRoutes } from './delivery/delivery.routes.ts'
import type { DeliveryEvent, DeliveryState } from './delivery/delivery.ts'
import { attempts } from './dispatch/attempts.ts'
import { BREAKER, type BreakerRules } from './dispatch/breaker.ts'
import { dispatcher } from './dispatch/dispatcher.ts'
import { LIMITS, limiter } from './dispatch/limiter.ts'
import { notifierMetrics } from './dispatch/metrics.ts'
import { type Resolve, systemResolve } from './http/connect.ts'
import { sender } from './http/post.ts'
import { intake } from './platform-event/intake.ts'
import { platformEventRoutes } from './platform-event/platform-event.routes.ts'
import {
  type PlatformEventCommand,
  type PlatformEventEvent,
  type PlatformEventState,
  platformEventDecider,
} from './platform-event/platform-event.ts'
import { prefetching } from './prefetch.ts'
import { publicEvents } from './public-events.ts'
import { reactionsOf, reactsTo } from './reactions.ts'
import { startRecoverer } from './recovery/recoverer.ts'
import { type RecoveryCommand, recoveryDecider } from './recovery/recovery.decide.ts'
import { projectRecovery, recoveries } from './recovery/recovery.projection.ts'
import { recoveryRoutes } from './recovery/recovery.routes.ts'
import type { RecoveryEvent, RecoveryState } from './recovery/recovery.ts'
import type { NotifierSettings } from './settings.ts'
import { knownUsers, projectKnownUser } from './user/known-user.projection.ts'
import {
  type KnownUserCommand,
  type KnownUserEvent,
  type KnownUserState,
  knownUserDecider,
} from './user/known-user.ts'
import { requestStanding } from './user/request-standing.ts'
import { startOwnerChecks } from './webhook/owner-checks.ts'
import { owners } from './webhook/owners.ts'
import { signingKeys } from './webhook/signing-keys.ts'
import { type WebhookCommand, webhookDecider } from './webhook/webhook.decide.ts'
import { projectWebhook, webhooks } from './webhook/webhook.projection.ts'
import { webhookRoutes } from './webhook/webhook.routes.ts'
import type { WebhookEvent, WebhookState } from './webhook/webhook.ts'

/** External dependencies; tests replace them. */
export interface Surroundings {
  /** From 0 (inclusive) to 1 (exclusive). */
  random(): number
  resolve: Resolve
  /** Certificates to trust in addition to the public ones, as PEM. */
  ca?: string
  breaker: BreakerRules
}

const SURROUNDINGS: Surroundings = { random: Math.random, resolve: systemResolve, breaker: BREAKER }

/** Time after the timeout of an attempt to record its outcome, before it counts as lost. */
const RECORDING_MS = 5_000
/**
 * How long running attempts may continue when the service stops. After that they are aborted, and there is the same time
 * to record their outcomes.
 */
const GRACE_MS = 5_000
/** Interval of the checks whether the read models are caught up. */
const LOOK_MS = 20
/** Maximum number of messages that are handled ahead of the consumer. */
const READ_AHEAD = 32
/**
 * Number of cached delivery states. The outcome of an attempt needs the state again soon after the claim. Each state
 * contains the payload.
 */
const KEPT_DELIVERIES = 2_000

/** The notifier: webhooks, deliveries, recoveries, and events of the platform. */
export function notifierService(
  given: Dependencies,
  settings: NotifierSettings,
  surroundings: Partial<Surroundings> = {},
): Service {
  const dependencies = instrumented(given)
  const { eventStore, unknownEvent, readModels, bus, now, newId, log, holder } = dependencies
  const { random, resolve, ca, breaker } = { ...SURROUNDINGS, ...surroundings }
  const timeoutMs = settings.WEBHOOK_TIMEOUT
  const rules = { schedule: settings.WEBHOOK_RETRY_SCHEDULE, retentionMs: settings.WEBHOOK_RETENTION }
  const projected = projectDelivery(state => expired(state, rules, now().toISOString()))

  const webhook = aggregate<WebhookState, WebhookCommand, WebhookEvent>({
    eventStore,
    unknownEvent,
    category: 'webhook',
    decider: webhookDecider(settings.WEBHOOK_ALLOWED_CIDRS),
    view: { readModels, project: projectWebhook },
  })
  const delivery = aggregate<DeliveryState, DeliveryCommand, DeliveryEvent>({
    eventStore,
    unknownEvent,
    category: 'delivery',
    decider: deliveryDecider(rules),
    view: { readModels, project: projected },
    cacheSize: KEPT_DELIVERIES,
  })
  const recovery = aggregate<RecoveryState, RecoveryCommand, RecoveryEvent>({
    eventStore,
    unknownEvent,
    category: 'recovery',
    decider: recoveryDecider(rules),
    view: { readModels, project: projectRecovery },
  })
  const platformEvent = aggregate<PlatformEventState, PlatformEventCommand, PlatformEventEvent>({
    eventStore,
    unknownEvent,
    category: 'platformevent',
    decider: platformEventDecider,
  })
  const knownUser = aggregate<KnownUserState, KnownUserCommand, KnownUserEvent>({
    eventStore,
    unknownEvent,
    category: 'knownuser',
    decider: knownUserDecider,
    view: { readModels, project: projectKnownUser },
  })
  const projector = serviceProjector(dependencies, {
    name: 'notifier.projector',
    projections: [webhook.projection, delivery.projection, recovery.projection, knownUser.projection],
    collections: [webhooks, deliveries, recoveries, knownUsers],
  })
  const views = {
    webhooks: readModels.collection(webhooks),
    deliveries: readModels.collection(deliveries),
    recoveries: readModels.collection(recoveries),
  }

  const metadata = (causationId?: string): CommandMetadata => ({
    ...ownMetadata(dependencies, 'notifier'),
    ...(causationId && { causationId }),
  })
  const space = limiter({ ...LIMITS, perSecond: settings.WEBHOOK_RATE_PER_SECOND }, { rules: breaker })
  const metrics = notifierMetrics(dependencies.metrics, {
    underWay: () => space.running,
    troubled: space.openBreakers,
    pending: () => views.deliveries.count({ where: { queue: { gt: '' } } }),
    async overdueMs() {
      const time = now()
      const [oldest] = await views.deliveries.list({
        where: { nextAttemptAt: { lte: time.toISOString() } },
        sort: [{ field: 'nextAttemptAt', direction: 'asc' }],
        limit: 1,
      })
      return oldest?.doc.nextAttemptAt ? time.getTime() - Date.parse(oldest.doc.nextAttemptAt) : 0
    },
  })
  const keys = signingKeys(dependencies.encryptionKey)
  const http = sender({ resolve, allowed: settings.WEBHOOK_ALLOWED_CIDRS, timeoutMs, ...(ca && { ca }) })
  const interruption = new AbortController()
  const abandonment = new AbortController()
  // Every running attempt adds listeners to these signals.
  setMaxListeners(0, interruption.signal, abandonment.signal)
  const makeAttempt = attempts({
    delivery,
    webhook,
    sender: http,
    keys,
    metrics,
    timeoutMs,
    userAgent: `Gantry/${manifest.version}`,
    now,
    random,
    metadata,
    log,
    interrupted: interruption.signal,
    abandoned: abandonment.signal,
  })
  const dispatch = dispatcher({
    delivery,
    webhook,
    ...views,
    makeAttempt,
    room: space,
    metrics,
    lostAfterMs: timeoutMs + RECORDING_MS,
    retentionMs: rules.retentionMs,
    leases: readModels.leases,
    bus,
    holder,
    now,
    metadata,
    log,
  })
  const ownersOfWebhooks = owners({
    knownUser,
    users: readModels.collection(knownUsers),
    webhook,
    webhooks: views.webhooks,
    askIdentity: requestStanding(bus),
    metadata,
    log,
  })
  const receive = intake({ platformEvent, eventStore, bus })
  const react = reactionsOf({
    webhooks: views.webhooks,
    complete: () => projector.complete(),
    dispatcher: dispatch,
    receive,
    owners: ownersOfWebhooks,
    newId,
    now,
    log,
  })

  const stopping = new AbortController()
  const { signal } = stopping
  const ahead = prefetching({ bus, log, subjects: reactsTo, react, window: READ_AHEAD, signal })

  return serviceFrom(dependencies, {
    name: 'notifier',
    projectors: [projector],
    routes(app, admit) {
      const route = router(app, admit, dependencies, 'notifier')
      webhookRoutes(route, {
        webhook,
        ...views,
        owners: ownersOfWebhooks,
        keys,
        dispatcher: dispatch,
      })
      deliveryRoutes(route, { delivery, webhook, ...views, dispatcher: dispatch })
      recoveryRoutes(route, { recovery, bus, ...views })
      platformEventRoutes(route, receive)
    },
    relay: {
      streamPrefixes: ['webhook-', 'platformevent-', 'delivery-', 'recovery-'],
      publicEvents: fact => publicEvents(newest(platformEventDecider.events, fact)),
      subjects: [subjects.events('notifier', '*'), subjects.events('platform', '*')],
    },
    reactors: [
      {
        consumer: 'notifier',
        subjects: reactsTo,
        async react(message) {
          // An event would not be delivered to a webhook that the read models do not have yet.
          while (!projector.caughtUp) await pause(LOOK_MS, undefined, { signal })
          await ahead(message)
        },
      },
    ],
    workers: [
      () => {
        dispatch.start()
        return { stop: async () => stopping.abort() }
      },
      () =>
        startRecoverer({
          recovery,
          webhook,
          delivery,
          ...views,
          dispatcher: dispatch,
          bus,
          leases: readModels.leases,
          holder,
          metadata,
          log,
        }),
      () =>
        startOwnerChecks({
          owners: ownersOfWebhooks,
          caughtUp: () => projector.caughtUp,
          leases: readModels.leases,
          holder,
          log,
        }),
    ],
    async drain() {
      const grace = setTimeout(() => interruption.abort(), GRACE_MS)
      const end = setTimeout(() => abandonment.abort(), 2 * GRACE_MS)
      await dispatch.stop()
      clearTimeout(grace)
      clearTimeout(end)
      await http.close()
    },
  })
}
