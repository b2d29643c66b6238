import {
  getSystem,
  type Lag,
  type ProcessState,
  requests,
  ServiceState,
  type System,
} from '@gantry/contracts'
import type { InternalRequests } from '@gantry/hosting'
import { type Admit, checkQuery, routeOf } from '@gantry/service-runtime'
import type { FastifyInstance } from 'fastify'

type Replica = System['services'][number]['replicas'][number]

/** A service with its replicas, and the states that the answering replicas reported. */
interface KnownService {
  name: string
  replicas: { shown: Replica; state?: ProcessState & Partial<Pick<ServiceState, 'lag'>> }[]
}

/** Adds `GET /system`. */
export function systemRoute(
  app: FastifyInstance,
  { admit, system }: { admit: Admit; system(): Promise<System> },
): void {
  app.route({
    ...routeOf(getSystem, admit),
    async handler(request) {
      checkQuery(getSystem.query, request.query)
      return system()
    },
  })
}

/**
 * The state of an installation of several processes: asks each known replica of the services. Never throws.
 * @param own state of the gateway
 */
export async function systemOf(
  services: readonly string[],
  { askEach }: Pick<InternalRequests, 'askEach'>,
  own: ProcessState,
): Promise<System> {
  const asked = services.map(async (name): Promise<KnownService> => {
    const replies = await askEach(requests.processState(name))
    return {
      name,
      replicas: replies.map(({ replica: { ready, release }, answer }) => {
        const { data: state } = ServiceState.safeParse(answer)
        return state ? replicaOf(state) : { shown: silent(ready && answer !== undefined, release) }
      }),
    }
  })
  return summary([...(await Promise.all(asked)), { name: 'gateway', replicas: [replicaOf(own)] }])
}

/** The state of services that share one process. */
export const systemFrom = (
  state: ProcessState,
  services: readonly { name: string; lag: readonly Lag[] }[],
): System =>
  summary([
    ...services.map(({ name, lag }) => ({ name, replicas: [replicaOf({ ...state, lag: [...lag] })] })),
    { name: 'gateway', replicas: [replicaOf(state)] },
  ])

function replicaOf(state: ProcessState & { lag?: Lag[] }): KnownService['replicas'][number] {
  const { version, host, node, startedAt, waitsFor } = state
  const status = waitsFor === null ? 'READY' : 'NOT_READY'
  return { state, shown: { status, version, host, node, startedAt, waitsFor } }
}

/** A replica that did not tell its state. One of another release may answer in another shape. */
const silent = (ready: boolean, release: string | undefined): Replica => ({
  status: ready ? 'READY' : 'UNAVAILABLE',
  version: release ?? null,
  host: null,
  node: null,
  startedAt: null,
  waitsFor: null,
})

const BEST_FIRST = ['READY', 'NOT_READY', 'UNAVAILABLE'] as const

const summary = (services: readonly KnownService[]): System => ({
  services: services.map(({ name, replicas }) => ({
    name,
    status: BEST_FIRST.find(status => replicas.some(({ shown }) => shown.status === status)) ?? 'UNAVAILABLE',
    replicas: replicas.map(({ shown }) => shown),
  })),
  lag: services.flatMap(({ name, replicas }) =>
    worst(replicas.flatMap(({ state }) => state?.lag ?? [])).map(lag => ({ ...lag, service: name })),
  ),
  backingStores: storesOf(services),
})

/** One lag for each name. Only the replica that handles a message knows its age. */
function worst(lags: readonly Lag[]): Lag[] {
  const greatest = (values: readonly (number | null)[]) => {
    const known = values.filter(value => value !== null)
    return known.length > 0 ? Math.max(...known) : null
  }
  const byName = Map.groupBy(lags, ({ kind, name }) => `${kind} ${name}`)
  return [...byName.values()].flatMap(same =>
    same.slice(0, 1).map(({ kind, name }) => ({
      kind,
      name,
      events: greatest(same.map(({ events }) => events)),
      seconds: greatest(same.map(({ seconds }) => seconds)),
    })),
  )
}

/** The backing stores of all processes. Processes that see the same share an entry. */
function storesOf(services: readonly KnownService[]): System['backingStores'] {
  const seen = services.flatMap(({ name, replicas }) =>
    replicas.flatMap(({ state }) => (state?.backingStores ?? []).map(store => ({ name, store }))),
  )
  const same = Map.groupBy(seen, ({ store }) =>
    JSON.stringify([store.purpose, store.kind, store.version, store.status]),
  )
  return [...same.values()].flatMap(all =>
    all.slice(0, 1).map(({ store }) => ({ ...store, services: [...new Set(all.map(({ name }) => name))] })),
  )
}
