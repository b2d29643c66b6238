import { subjects } from '@gantry/contracts'
import {
  aggregate,
  type Executed,
  newest,
  type Projector,
  reservation,
  startProjector,
  startReactor,
  startRelay,
  type Worker,
} from '@gantry/event-sourcing'
import type { Json, Message } from '@gantry/messaging'
import {
  type Dependencies,
  missedMessageCounter,
  router,
  type Service,
  sendDirectly,
  unknownEventCounter,
  watchingAppends,
} from '@gantry/service-kit'
import { type ApiCommand, apiDecider } from './api/api.decide.ts'
import { apis, projectApi, versions } from './api/api.projection.ts'
import { apiRoutes } from './api/api.routes.ts'
import { apiSnapshots } from './api/api.snapshots.ts'
import { type ApiEvent, type ApiState, apiEvents } from './api/api.ts'
import { startDeploymentTimeouts } from './api/deployment-timeouts.ts'
import { versionRoutes } from './api/version.routes.ts'
import { owners, ownersIn, projectOwner } from './owner/owner.projection.ts'
import { type OwnerCommand, type OwnerEvent, type OwnerState, ownerDecider } from './owner/owner.ts'
import { publicEvents } from './public-events.ts'
import { reactionsOf, reactsTo } from './reactions.ts'
import type { CatalogSettings } from './settings.ts'

/** APIs, their versions and their deployments. */
export function catalogService(given: Dependencies, settings: CatalogSettings): Service {
  const dependencies = watchingAppends(given)
  const { eventStore, readModels, bus, now, newId, log, holder } = dependencies
  const unknownEvent = unknownEventCounter(dependencies.metrics)
  const missedBy = missedMessageCounter(dependencies.metrics)

  const api = aggregate<ApiState, ApiCommand, ApiEvent>({
    eventStore,
    unknownEvent,
    category: 'api',
    decider: apiDecider,
    view: { readModels, project: projectApi },
    snapshots: { schema: apiSnapshots, every: dependencies.snapshotEvery },
    async reserve(id, { state, revision, unknown }, events, { metadata }) {
      // An unknown event may have renamed this API, so that another API may hold the name now: claim it again.
      const held = state.status === 'Live' && !unknown ? state.record.name : undefined
      for (const { type, data } of events) {
        if ((type === 'ApiCreated' || type === 'ApiUpdated') && data.name !== held) {
          await names.claim(data.name, id, revision, metadata)
        }
      }
    },
  })
  const names = reservation({
    eventStore,
    scope: 'api',
    holderCategory: api.category,
    takenCode: 'api-name-taken',
    now,
    async holding(holder) {
      const { state, ...at } = await api.load(holder)
      return { name: state.status === 'Live' ? state.record.name : undefined, ...at }
    },
  })
  const owner = aggregate<OwnerState, OwnerCommand, OwnerEvent>({
    eventStore,
    unknownEvent,
    category: 'owner',
    decider: ownerDecider,
    view: { readModels, project: projectOwner },
  })
  const react = reactionsOf({ api, owner, now, newId, log })
  const announceDeletion = async ({ facts }: Executed<ApiState, ApiEvent>) => {
    for (const message of facts.filter(({ type }) => type === 'ApiDeleted').flatMap(publicEvents))
      await sendDirectly(bus, 'media', message)
  }

  let projector: Projector | undefined
  let relay: Worker | undefined
  let searchable: Promise<number> | undefined
  const workers: Worker[] = []
  const unsubscribe: (() => void)[] = []

  return {
    name: 'catalog',
    projectors: ['catalog.projector'],
    routes(app, admit) {
      const route = router(app, admit, dependencies, 'catalog')
      apiRoutes(route, {
        api,
        apis: readModels.collection(apis),
        owners: ownersIn(readModels.collection(owners)),
        announceDeletion,
      })
      versionRoutes(route, {
        api,
        apis: readModels.collection(apis),
        versions: readModels.collection(versions),
        limit: settings.MAX_VERSIONS_PER_API,
      })
    },
    async start(only) {
      const common = { eventStore, readModels, holder, log }
      projector = startProjector({
        ...common,
        name: 'catalog.projector',
        projections: [api.projection, owner.projection],
        collections: [apis, versions, owners],
      })
      workers.push(projector)
      if (only === 'projectors') return
      // A search makes an adapter with a text index in memory load it now instead of in the first request.
      searchable = readModels
        .collection(apis)
        .count({ text: ['a'] })
        .catch(() => 0)
      relay = startRelay({
        ...common,
        bus,
        name: 'catalog.relay',
        streamPrefixes: ['api-'],
        publicEvents: fact => publicEvents(newest(apiEvents, fact)),
        subjects: [subjects.events('catalog', '*')],
      })
      workers.push(
        startDeploymentTimeouts({ ...common, api, timeoutMs: settings.DEPLOYMENT_TIMEOUT, now, newId }),
        relay,
        ...Object.entries(reactsTo).map(([consumer, subject]) =>
          startReactor({ bus, log, consumer, subjects: [subject], react, missed: missedBy(consumer) }),
        ),
      )
      unsubscribe.push(
        bus.respond(subjects.react('catalog'), async message => {
          await react(message as unknown as Message)
          return null
        }),
        bus.respond(subjects.apiExists, async (question): Promise<Json> => {
          const { api: id } = question as { api: string }
          return { exists: (await api.load(id)).state.status === 'Live' }
        }),
      )
    },
    waitingFor: () => relay?.waitsFor ?? (projector?.caughtUp ? undefined : 'the read models of catalog'),
    async stop() {
      for (const stop of unsubscribe) stop()
      await searchable
      await Promise.all(workers.map(worker => worker.stop()))
    },
  }
}
