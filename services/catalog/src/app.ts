import { requests, subjects } from '@gantry/contracts'
import {
  type Aggregate,
  aggregate,
  type Executed,
  newest,
  Projector,
  reservations,
} from '@gantry/event-sourcing'
import type { Message } from '@gantry/messaging'
import {
  type AddRoute,
  type Dependencies,
  type Instrumented,
  instrumented,
  responder,
  router,
  type Service,
  sendDirectly,
  serviceFrom,
  temporal,
  userNames,
} from '@gantry/service-runtime'
import { type ApiAggregate, type ApiCommand, apiDecider } from './api/api.decide.ts'
import { apiHistory, projectApiHistory } from './api/api.history.ts'
import {
  apiPeriods,
  apis,
  projectApi,
  projectApiPeriods,
  versionPeriods,
  versions,
} from './api/api.projection.ts'
import { apiRoutes } from './api/api.routes.ts'
import { apiSnapshots } from './api/api.snapshots.ts'
import { type ApiEvent, type ApiState, apiEvents } from './api/api.ts'
import { deploymentRoutes } from './api/deployment.routes.ts'
import { startDeploymentTimeouts } from './api/deployment-timeouts.ts'
import { documentedApis } from './api/documents.ts'
import { facetRoutes } from './api/facets.routes.ts'
import { historyRoutes } from './api/history.routes.ts'
import { scoredBy } from './api/scores.ts'
import { versionFor, versionRoutes } from './api/version.routes.ts'
import { versionsBefore } from './api/version.ts'
import { jobsOf } from './background.ts'
import { type EnvironmentAggregate, environmentDecider } from './environment/environment.decide.ts'
import { environmentNames, environments, projectEnvironment } from './environment/environment.projection.ts'
import { environmentRoutes } from './environment/environment.routes.ts'
import { jobResults, jobs } from './job/job.projection.ts'
import { publicEvents } from './public-events.ts'
import { reactionsOf, reactsTo } from './reactions.ts'
import { descriptions, descriptionsProjection } from './search/descriptions.ts'
import { searchingBy } from './search/search.ts'
import type { CatalogSettings } from './settings.ts'

/**
 * APIs, their versions and deployments, their import and bulk changes, and the jobs of these.
 * @param options.snapshotEvery minimum number of events between two snapshots of a stream
 */
export function catalogService(
  given: Dependencies,
  settings: CatalogSettings,
  { snapshotEvery }: { snapshotEvery?: number } = {},
): Service {
  const dependencies = instrumented(given)
  const { readModels, process } = dependencies
  const projector = new Projector({
    ...dependencies,
    ...process,
    name: 'catalog.projector',
    collections: [apis, versions, environments, jobs, jobResults],
  })
  const periods = temporal(dependencies, {
    name: 'catalog.periods',
    category: 'api',
    decider: apiDecider,
    project: projectApiPeriods,
    changed: projectApiHistory,
    collections: [apiPeriods, versionPeriods, apiHistory],
  })
  const api = apiAggregate(dependencies, projector, snapshotEvery)
  const describing = describer(dependencies, api)
  const views = () => ({
    apis: periods.moments(readModels.collection(apis), apiPeriods),
    versions: periods.moments(readModels.collection(versions), versionPeriods),
  })
  const environmentPart = environmentsOf(dependencies, projector, api)
  const names = userNames(dependencies)
  const searchFor = searchingBy(names.namesLike)
  const shared = { namesOf: names.namesOf, environments: environmentPart.names, searchFor }
  const announceDeletion = deletionAnnouncer(dependencies)
  const limit = settings.MAX_VERSIONS_PER_API
  const background = jobsOf(dependencies, { projector, api, announceDeletion, limit, ...shared })
  const react = reactionsOf({ ...dependencies, api })
  return serviceFrom(dependencies, {
    name: 'catalog',
    projectors: [projector, periods.projector, describing],
    async routes(app, admit) {
      const route = router(app, admit, dependencies, 'catalog')
      const scoredBelow = scoredBy(readModels.collection(apis), process.peers)
      apiRoutes(route, { api, ...views(), ...shared, scoredBelow, announceDeletion })
      facetRoutes(route, { documents: readModels.collection(apis), ...shared })
      environmentPart.routes(route)
      historyRoutes(route, {
        history: readModels.collection(apiHistory),
        periods: readModels.collection(versionPeriods),
        upToDate: periods.upToDate,
        namesOf: names.namesOf,
      })
      versionRoutes(route, { api, ...views(), limit, announceDeletion })
      background.routes(route)
      await app.register(async bodies =>
        background.documentRoutes(bodies, router(bodies, admit, dependencies, 'catalog')),
      )
    },
    publication: {
      streamPrefixes: ['api-'],
      publicEvents: fact => publicEvents(newest(apiEvents, fact)),
      subjects: [subjects.events('catalog', '*')],
    },
    reactors: Object.entries(reactsTo).map(([consumer, subject]) => ({
      consumer,
      subjects: [subject],
      react: async message => void (await react(message)),
    })),
    workers: [
      () =>
        startDeploymentTimeouts({ ...dependencies, ...process, api, timeoutMs: settings.DEPLOYMENT_TIMEOUT }),
      names.listen,
      background.start,
    ],
    responders: [
      responder(requests.react('catalog'), reactingAtOnce(react, describing)),
      responder(requests.findVersion, asked => versionFor(views(), asked)),
      responder(requests.documentedApis, asked => documentedApis(views(), asked)),
      ...apiResponders(api),
    ],
  })
}

/** Answers from the log, which is ahead of the read models. */
const apiResponders = (api: Pick<Aggregate<ApiState, ApiCommand, ApiEvent>, 'load'>) => [
  responder(requests.versionsBefore, async ({ api: id, version }) => {
    const { state } = await api.load(id)
    return { ids: state.status === 'Live' ? versionsBefore(state, version) : [] }
  }),
  responder(requests.apiExists, async ({ api: id }) => ({
    exists: (await api.load(id)).state.status === 'Live',
  })),
]

/** Sends the deletion of an API or a version to media without delay. */
const deletionAnnouncer =
  ({ process }: Instrumented) =>
  async ({ facts }: Executed<ApiState, ApiEvent>) => {
    for (const message of facts
      .filter(({ type }) => type === 'ApiDeleted' || type === 'VersionDeleted')
      .flatMap(publicEvents))
      await sendDirectly(process.peers, 'media', message)
  }

/** The projector of what documents say, for searches. */
function describer(
  { process, ...dependencies }: Instrumented,
  api: Aggregate<ApiState, ApiCommand, ApiEvent>,
) {
  const projector = new Projector({
    ...dependencies,
    ...process,
    name: 'catalog.descriptions',
    collections: [descriptions],
    background: true,
  })
  projector.register(descriptionsProjection({ api, peers: process.peers }))
  return projector
}

/** Answers the requests of other services to handle a message. Documents can be found as soon as they are uploaded. */
const reactingAtOnce =
  (react: ReturnType<typeof reactionsOf>, describing: Projector) => async (message: Message) => {
    const position = await react(message)
    if (position !== undefined) await describing.reached(position, DESCRIBED_MS)
    return null
  }

/** Maximum time that a change of a document waits until it can be found, in milliseconds. */
const DESCRIBED_MS = 2_000

/** APIs with unique names. @param snapshotEvery minimum number of events between two snapshots of a stream */
function apiAggregate(
  dependencies: Instrumented,
  projector: Projector,
  snapshotEvery: number | undefined,
): Aggregate<ApiState, ApiCommand, ApiEvent> {
  const api = aggregate({
    ...dependencies,
    category: 'api',
    decider: apiDecider,
    view: { projector, project: projectApi },
    snapshots: { schema: apiSnapshots, every: snapshotEvery },
    async reserve(id, { state, revision, unknown }, events, { metadata }) {
      // An unknown event may have renamed this API, so that another API may hold the name now: reserve it again.
      const currentName = state.status === 'Live' && !unknown ? state.record.name : undefined
      for (const { type, data } of events) {
        if ((type === 'ApiCreated' || type === 'ApiUpdated') && data.name !== currentName) {
          await names.reserve(data.name, id, revision, metadata)
        }
      }
    },
  })
  const names = reservations({
    ...dependencies,
    category: api.category,
    takenCode: 'api-name-taken',
    async holding(holder) {
      const { state, ...at } = await api.load(holder)
      return { name: state.status === 'Live' ? state.record.name : undefined, ...at }
    },
  })
  return api
}

/** The environments, their names, and the routes for them and for the deployments to them. */
function environmentsOf(dependencies: Instrumented, projector: Projector, api: ApiAggregate) {
  const { readModels } = dependencies
  const documents = readModels.collection(environments)
  const environment = environmentAggregate(dependencies, projector)
  return {
    names: environmentNames(documents),
    routes(route: AddRoute) {
      environmentRoutes(route, { environment, environments: documents, apis: readModels.collection(apis) })
      deploymentRoutes(route, { api, environment, environments: documents })
    },
  }
}

/** Environments with unique names. */
function environmentAggregate(dependencies: Instrumented, projector: Projector): EnvironmentAggregate {
  const environment: EnvironmentAggregate = aggregate({
    ...dependencies,
    category: 'environment',
    decider: environmentDecider,
    view: { projector, project: projectEnvironment },
    async reserve(id, { state, revision, unknown }, events, { metadata }) {
      const currentName = state.status === 'Live' && !unknown ? state.record.name : null
      for (const { type, data } of events)
        if (type === 'EnvironmentNamed' && data.name !== currentName)
          await names.reserve(data.name, id, revision, metadata)
    },
  })
  const names = reservations({
    ...dependencies,
    category: environment.category,
    takenCode: 'environment-name-taken',
    async holding(holder) {
      const { state, ...at } = await environment.load(holder)
      return { name: state.status === 'Live' ? (state.record.name ?? undefined) : undefined, ...at }
    },
  })
  return environment
}
