import { MAX_NAMED_USERS, type Resealed, subjects, type UserStanding } from '@gantry/contracts'
import { type EventStore, logIdentity } from '@gantry/event-sourcing'
import type { NamesOf, Responders } from '@gantry/service-runtime'
import { z } from 'zod'
import type { Authenticate } from './authentication/authenticate.ts'
import { unauthenticated } from './authentication/unauthenticated.ts'
import { type KeyRotation, RotationRequest } from './signingkey/rotation.ts'
import type { UserAggregate } from './user/user.decide.ts'

export interface ResponderOptions {
  authenticate: Authenticate
  user: UserAggregate
  namesOf: NamesOf
  /** By the ring of a request. */
  rotations: Readonly<Record<RotationRequest['ring'], KeyRotation>>
  eventStore: EventStore
  /** Answers to the requests of the command `reseal`. */
  reseal: (request: unknown) => Promise<Resealed>
  retire: (request: unknown) => Promise<{ retired: string[] }>
}

const CredentialRequest = z.object({ credential: z.string() })
const UserRequest = z.object({ user: z.uuid() })
const NamesRequest = z.object({ users: z.array(z.string()).max(MAX_NAMED_USERS) })

/** Answers to the requests of other services and of operators, by subject. */
export function respondersOf(options: ResponderOptions): Responders {
  const { authenticate, user, namesOf, rotations, eventStore, reseal, retire } = options
  const standingOf = async (id: string): Promise<UserStanding> => {
    const { state, revision } = await user.load(id)
    if (state.status !== 'Live') return { user: null, revision }
    const { role, status } = state.record
    return { user: { role, status }, revision }
  }
  return {
    async [subjects.authenticate](request) {
      const parsed = CredentialRequest.safeParse(request)
      if (!parsed.success) throw unauthenticated('there is no credential')
      return { ...(await authenticate(parsed.data.credential)) }
    },
    [subjects.userStanding]: async request => standingOf(UserRequest.parse(request).user),
    [subjects.userNames]: async request =>
      Object.fromEntries(await namesOf(NamesRequest.parse(request).users)),
    [subjects.resealIdentity]: async request => ({ ...(await reseal(request)) }),
    [subjects.retireKeys]: retire,
    [subjects.logHead]: async () => ({
      position: await eventStore.head(),
      log: await logIdentity(eventStore),
    }),
    async [subjects.rotateKeys](request) {
      const parsed = RotationRequest.parse(request)
      return { ...(await rotations[parsed.ring].rotate(parsed)), ring: parsed.ring }
    },
  }
}
