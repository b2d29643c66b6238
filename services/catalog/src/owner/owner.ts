import type { Aggregate, CommandMetadata, Decider } from '@gantry/event-sourcing'

/** Catalog's copy of a user: the display name that APIs show for their owner. */
export type OwnerEvent =
  | { type: 'OwnerNamed'; data: { displayName: string; userRevision: number } }
  | { type: 'OwnerGone'; data: { userRevision: number } }

export type OwnerState =
  | { status: 'Absent'; userRevision: -1 }
  | { status: 'Live'; displayName: string; userRevision: number }
  | { status: 'Deleted'; userRevision: number }

export type OwnerCommand = {
  type: 'NoteOwner'
  metadata: CommandMetadata
  /** Null when the user was deleted. */
  displayName: string | null
  /** Revision of the user's event that the command reacts to. */
  userRevision: number
}

export type OwnerAggregate = Aggregate<OwnerState, OwnerCommand, OwnerEvent>

export const ownerDecider: Decider<OwnerState, OwnerCommand, OwnerEvent> = {
  initial: { status: 'Absent', userRevision: -1 },
  events: { OwnerNamed: [], OwnerGone: [] },
  decide(state, { displayName, userRevision }) {
    if (userRevision <= state.userRevision) return []
    if (displayName === null)
      return state.status === 'Live' ? [{ type: 'OwnerGone', data: { userRevision } }] : []
    if (state.status === 'Live' && state.displayName === displayName) return []
    return [{ type: 'OwnerNamed', data: { displayName, userRevision } }]
  },
  evolve(state, event) {
    switch (event.type) {
      case 'OwnerNamed':
        return { status: 'Live', ...event.data }
      case 'OwnerGone':
        return { status: 'Deleted', ...event.data }
      default:
        event satisfies never
        return state
    }
  },
}
