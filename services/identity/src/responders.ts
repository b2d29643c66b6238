import { subjects, type UserStanding } from '@gantry/contracts'
import type { Aggregate } from '@gantry/event-sourcing'
import type { Responders } from '@gantry/service-kit'
import { z } from 'zod'
import type { Authenticate } from './authentication/authenticate.ts'
import { unauthenticated } from './authentication/unauthenticated.ts'
import { type KeyRotation, RotationRequest } from './signingkey/rotation.ts'
import type { UserCommand } from './user/user.decide.ts'
import type { UserEvent, UserState } from './user/user.ts'

export interface Responding {
  authenticate: Authenticate
  user: Aggregate<UserState, UserCommand, UserEvent>
  rotation: KeyRotation
}

const Question = z.object({ credential: z.string() })
const UserQuestion = z.object({ user: z.uuid() })

/** Answers to the requests of other services and of operators, by subject. */
export function respondersOf({ authenticate, user, rotation }: Responding): Responders {
  const standingOf = async (id: string): Promise<UserStanding> => {
    const { state, revision } = await user.load(id)
    if (state.status !== 'Live') return { user: null, revision }
    const { role, status } = state.record
    return { user: { role, status }, revision }
  }
  return {
    async [subjects.authenticate](question) {
      const asked = Question.safeParse(question)
      if (!asked.success) throw unauthenticated('there is no credential')
      return { ...(await authenticate(asked.data.credential)) }
    },
    [subjects.userStanding]: async question => standingOf(UserQuestion.parse(question).user),
    [subjects.rotateKeys]: async request => ({ ...(await rotation.rotate(RotationRequest.parse(request))) }),
  }
}
