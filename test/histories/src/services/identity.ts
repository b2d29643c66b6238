import { setImmediate } from 'node:timers/promises'
import { NO_STREAM, type RecordedEvent } from '@gantry/event-sourcing'
import { identityService } from '@gantry/identity'
import { Calls } from '../calls.ts'
import { portsOf } from '../ports.ts'
import { type Asked, NO_SNAPSHOTS, openReplica, type Request, type ServiceUnderTest } from '../replica.ts'
import { openStores } from '../stores.ts'

const ROLES = ['GLOBAL_ADMIN', 'USER', 'USER']
const RINGS = ['signingkey-ring', 'auditkey-ring']

/** Single sign-on users: passwords are hashed on another thread, which the order of calls does not control. */
const user = ({ name, variant }: Asked) => ({
  username: `user-${name}`,
  displayName: `User ${variant}`,
  role: ROLES[variant % ROLES.length],
  sso: true,
})

/** A request on an existing user. */
const ofUser = (make: (user: string, asked: Asked) => Request) => (asked: Asked) => {
  const id = asked.id('user')
  return id === undefined ? undefined : make(`/users/${id}`, asked)
}

const createUser = (asked: Asked): Request => ({
  method: 'POST',
  url: '/users',
  payload: user(asked),
  // Requests with the same name have the same key, so that a second one is a repetition.
  ...(asked.variant === 0 && { headers: { 'idempotency-key': `user:${asked.name}` } }),
})
const updateUser = ofUser((url, asked) => ({ method: 'PUT', url, payload: user(asked), readAt: url }))

export const identity: ServiceUnderTest = {
  name: 'identity',
  make: dependencies =>
    identityService(dependencies, {
      PLATFORM_JWT_USER_CLAIM: 'sub',
      AUDIT_PUSH_EVERY: 0,
      USER_KEY_BACKUP_RETENTION: 0,
    }),
  async prepare({ eventStore }) {
    firstKeys ??= makeFirstKeys()
    for (const key of await firstKeys) await eventStore.append(key.stream, [key], NO_STREAM)
  },
  first: ['createUser', 'createToken'],
  often: ['createUser', 'updateUser'],
  requests: {
    createUser,
    updateUser,
    deleteUser: ofUser((url, { variant }) => ({
      method: variant < 3 ? 'DELETE' : 'POST',
      url: variant < 3 ? url : `${url}/unlock`,
      readAt: url,
    })),
    eraseUser: ofUser(url => ({ method: 'POST', url: `${url}/erase`, readAt: null })),
    createToken: ({ name }) => ({
      method: 'POST',
      url: '/accessTokens',
      payload: { name: `token-${name}`, scopes: ['API_READ'] },
    }),
    deleteToken: ({ id }) => {
      const token = id('token')
      const url = `/accessTokens/${token}`
      return token === undefined ? undefined : { method: 'DELETE', url, readAt: url }
    },
  },
}

let firstKeys: Promise<RecordedEvent[]> | undefined

/** Keys are generated on another thread, so one key of each ring is made for all histories. */
async function makeFirstKeys(): Promise<RecordedEvent[]> {
  const stores = openStores()
  const calls = new Calls()
  const caller = { name: 'first', dead: false }
  return calls.directly(async () => {
    const replica = await openReplica(
      identity,
      portsOf(stores, stores.broker.connect(), calls, caller),
      caller,
      NO_SNAPSHOTS,
    )
    await replica.service.start()
    for (;;) {
      const made = await Promise.all(RINGS.map(ring => stores.eventStore.readStream(ring)))
      const keys = made.flatMap(events => events.slice(0, 1))
      if (keys.length === RINGS.length) {
        caller.dead = true
        replica.service.stop()
        await stores.projected.close()
        return keys
      }
      await setImmediate()
    }
  })
}
