import type { UserStanding } from '@gantry/contracts'
import type { CommandMetadata, Decider, EventSchemas } from '@gantry/event-sourcing'

type Noted = NonNullable<UserStanding['user']>

/** What the notifier knows of users: whether one may own a webhook. `userRevision` is that of the user's stream. */
export type KnownUserEvent =
  | { type: 'UserNoted'; data: Noted & { userRevision: number } }
  | { type: 'UserGone'; data: { userRevision: number } }

export type KnownUserState =
  | { status: 'Absent' }
  | { status: 'Live'; role: Noted['role']; userStatus: Noted['status']; userRevision: number }
  | { status: 'Deleted'; userRevision: number }

/** What identity published of a user, or answered. */
export type KnownUserCommand = { type: 'NoteUser'; metadata: CommandMetadata; standing: UserStanding }

const events: EventSchemas<KnownUserEvent> = { UserNoted: [], UserGone: [] }

export const knownUserDecider: Decider<KnownUserState, KnownUserCommand, KnownUserEvent> = {
  initial: { status: 'Absent' },
  events,
  decide(state, { standing: { user, revision: userRevision } }) {
    // Older than what is known, or the same: messages come more than once, and after answers.
    if (state.status !== 'Absent' && userRevision <= state.userRevision) return []
    if (user === null) return state.status === 'Deleted' ? [] : [{ type: 'UserGone', data: { userRevision } }]
    const { role, status } = user
    if (state.status === 'Live' && state.role === role && state.userStatus === status) return []
    return [{ type: 'UserNoted', data: { role, status, userRevision } }]
  },
  evolve(state, event) {
    switch (event.type) {
      case 'UserNoted': {
        const { role, status: userStatus, userRevision } = event.data
        return { status: 'Live', role, userStatus, userRevision }
      }
      case 'UserGone':
        return { status: 'Deleted', ...event.data }
      default:
        event satisfies never
        return state
    }
  },
}
