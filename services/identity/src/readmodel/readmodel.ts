import type { Change } from '@gantry/contracts'
import type { CommandMetadata, Decider } from '@gantry/event-sourcing'

/** What administrators have asked about the rebuild of one read model. The stream is for the audit log. */
export type RebuildRequestsEvent =
  | { type: 'RebuildRequested'; data: RebuildRequest }
  | { type: 'RebuildCancelled'; data: RebuildRequest }

interface RebuildRequest {
  /** The name of the read model. */
  name: string
  rebuild: string
}

/** The last rebuild that was requested; null before the first. */
export type RebuildRequestsState = { rebuild: { id: string; status: 'REQUESTED' | 'CANCELLED' } | null }

export type RebuildRequestsCommand = RebuildRequest & {
  type: 'RequestRebuild' | 'CancelRebuild'
  metadata: CommandMetadata
}

export const rebuildRequestsDecider: Decider<
  RebuildRequestsState,
  RebuildRequestsCommand,
  RebuildRequestsEvent
> = {
  initial: { rebuild: null },
  events: { RebuildRequested: [], RebuildCancelled: [] },
  decide(_, { type, name, rebuild }) {
    return [
      { type: type === 'RequestRebuild' ? 'RebuildRequested' : 'RebuildCancelled', data: { name, rebuild } },
    ]
  },
  evolve(state, event) {
    const { rebuild: id } = event.data
    switch (event.type) {
      case 'RebuildRequested':
        return { rebuild: { id, status: 'REQUESTED' } }
      case 'RebuildCancelled':
        return { rebuild: { id, status: 'CANCELLED' } }
      default:
        event satisfies never
        return state
    }
  },
  describe(before, event, after): Change {
    const { name } = event.data
    return {
      action:
        event.type === 'RebuildRequested' ? 'READ_MODEL_REBUILD_REQUESTED' : 'READ_MODEL_REBUILD_CANCELLED',
      resourceType: 'READ_MODEL',
      resourceId: name,
      before: before.rebuild && { name, rebuild: before.rebuild },
      after: after.rebuild && { name, rebuild: after.rebuild },
    }
  },
}
