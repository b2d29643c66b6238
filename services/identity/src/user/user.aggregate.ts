import { aggregate, type Projector, type Reservations, reservations } from '@gantry/event-sourcing'
import type { Instrumented } from '@gantry/service-runtime'
import { administrators, administratorsDecider } from './administrators.ts'
import { type UserAggregate, userDecider } from './user.decide.ts'
import { projectUser, users } from './user.projection.ts'
import { evolveUser, isGlobalAdministrator, type UserEvent, usernameOf } from './user.ts'

/** Maximum number of other global administrators to consider before one is removed. */
const CANDIDATES = 100

/** Types of events that may change the username, or whether the user is a global administrator. */
const CHANGES: ReadonlySet<string> = new Set<UserEvent['type']>([
  'UserCreated',
  'UserUpdated',
  'UserDeleted',
  'UserErased',
])

/** Users with unique names, at least one of them a global administrator. */
export function userAggregate(dependencies: Instrumented, projector: Projector): UserAggregate {
  const user = aggregate({
    ...dependencies,
    category: 'user',
    decider: userDecider,
    view: { projector, project: projectUser },
    async reserve(id, { state, revision, unknown }, events, { metadata }) {
      const after = events.reduce((current, event) => evolveUser(current, event, revision), state)
      const username = usernameOf(after)
      const isChange = events.some(({ type }) => CHANGES.has(type))
      // An unknown event may have changed the role or the name of this user, so that another user may hold the name now.
      const mayBeAdministrator = unknown !== undefined || isGlobalAdministrator(state)
      if (isChange && mayBeAdministrator && !isGlobalAdministrator(after))
        await globalAdministrators.announceRemoval(id, revision, metadata)
      const currentUsername = unknown ? undefined : usernameOf(state)
      if (isChange && username !== undefined && username !== currentUsername)
        await reserveUsername(username, id, revision, metadata)
    },
  })
  const reserveUsername = usernames(user, dependencies)
  const globalAdministrators = globalAdministratorsOf(user, dependencies)
  return user
}

/** @returns the function that reserves a username for a user */
const usernames = (user: UserAggregate, dependencies: Instrumented): Reservations['reserve'] =>
  reservations({
    ...dependencies,
    category: user.category,
    takenCode: 'username-taken',
    async holding(id) {
      const { state, ...at } = await user.load(id)
      return { name: usernameOf(state), ...at }
    },
  }).reserve

const globalAdministratorsOf = (user: UserAggregate, dependencies: Instrumented) => {
  const { readModels, newId, process } = dependencies
  return administrators({
    removals: aggregate({ ...dependencies, category: 'administrators', decider: administratorsDecider }),
    async candidates() {
      const where = { role: 'GLOBAL_ADMIN', status: 'ACTIVE' }
      const found = await readModels.collection(users).list({ where, limit: CANDIDATES })
      return found.map(({ doc }) => doc.id)
    },
    load: user.load,
    fence: (id, metadata) =>
      user.execute(id, { type: 'FenceRemoval', metadata: { ...metadata, commandId: newId() } }),
    newId,
    log: process.log,
  })
}
