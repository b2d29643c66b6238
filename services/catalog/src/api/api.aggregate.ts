import { type Aggregate, aggregate, type Projector, reservations } from '@gantry/event-sourcing'
import type { Instrumented } from '@gantry/service-kit'
import { type ApiCommand, apiDecider } from './api.decide.ts'
import { projectApi } from './api.projection.ts'
import { apiSnapshots } from './api.snapshots.ts'
import type { ApiEvent, ApiState } from './api.ts'

/** APIs with unique names. @param snapshotEvery minimum number of events between two snapshots of a stream */
export function apiAggregate(
  dependencies: Instrumented,
  projector: Projector,
  snapshotEvery: number | undefined,
): Aggregate<ApiState, ApiCommand, ApiEvent> {
  const { eventStore, now, unknownEvent } = dependencies
  const api = aggregate<ApiState, ApiCommand, ApiEvent>({
    eventStore,
    unknownEvent,
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
  return api
}
