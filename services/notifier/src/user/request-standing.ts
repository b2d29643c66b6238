import { subjects, UserStanding } from '@gantry/contracts'
import type { Bus } from '@gantry/messaging'

const TIMEOUT_MS = 2_000

/** Requests role and status of a user from identity. @throws NoResponder, RequestTimeout, BusUnavailable, RequestFailed */
export type RequestStanding = (user: string) => Promise<UserStanding>

export const requestStanding =
  (bus: Bus): RequestStanding =>
  async user =>
    UserStanding.parse(await bus.request(subjects.userStanding, { user }, { timeoutMs: TIMEOUT_MS }))
