import type { UserStanding } from '@gantry/contracts'
import type { CommandMetadata, Decider, EventSchemas } from '@gantry/event-sourcing'

type UserFields = NonNullable<UserStanding['user']>

/**
 * Role and status of users as far as the notifier knows them, to decide whether a user may own a webhook. `userRevision`
 * is the revision of the user's stream in identity.
 */
export type KnownUserEvent =
  | { type: 'UserNoted'; data: UserFields & { userRevision: number } }
  | { type: 'UserGone'; data: { userRevision: number } }

export type KnownUserState =
  | { status: 'Absent' }
  | { status: 'Live'; role: UserFields['role']; userStatus: UserFields['status']; userRevision: number }
  | { status: 'Deleted'; userRevision: number }

/** Role and status of a user, from a public event of identity or a response of identity. */
export type KnownUserCommand = { type: 'RecordUser'; metadata: CommandMetadata; standing: UserStanding }

const events: EventSchemas<KnownUserEvent> = { UserNoted: [], UserGone: [] }

export const knownUserDecider: Decider<KnownUserState, KnownUserCommand, KnownUserEvent> = {
  initial: { status: 'Absent' },
  events,
  decide(state, { standing: { user, revision: userRevision } }) {
    // Ignores old or equal revisions: messages may be repeated, or arrive after a newer response.
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
