import { type Reseal, type Resealed, type Rotation, requests } from '@gantry/contracts'
import { type EventStore, logIdentity } from '@gantry/event-sourcing'
import { type Responder, responder } from '@gantry/service-runtime'
import type { Accesses } from './audit/access/accesses.ts'
import { activeUser, effectiveScopes, liveToken, type withAddress } from './authentication/authenticate.ts'
import type { KeyRotation } from './signingkey/rotation.ts'
import type { TokenAggregate } from './token/token.ts'
import type { UserAggregate } from './user/user.decide.ts'
import type { KnownNames } from './user/user-names.ts'

export interface ResponderOptions {
  authenticate: ReturnType<typeof withAddress>
  accesses: Pick<Accesses, 'recordRefusal'>
  aggregates: { user: UserAggregate; token: TokenAggregate }
  names: KnownNames
  /** By the ring of a request. */
  rotations: Readonly<Record<Rotation['ring'], KeyRotation>>
  eventStore: EventStore
  /** Answers to the requests of the command `reseal`. */
  reseal(asked: Reseal): Promise<Resealed>
  retire(asked: { fingerprint: string }): Promise<{ retired: string[] }>
}

/** Answers to the requests of other services and of operators. */
export const respondersOf = (options: ResponderOptions): Responder[] => {
  const { authenticate, accesses, aggregates, names, rotations, eventStore, reseal, retire } = options
  const { user, token } = aggregates
  return [
    responder(requests.authenticate, authenticate),
    responder(requests.operationRefused, async refused => {
      await accesses.recordRefusal(refused)
      return null
    }),
    responder(requests.userStanding, async ({ user: id }) => {
      const { state, revision } = await user.load(id)
      if (state.status !== 'Live') return { user: null, revision }
      const { role, status } = state.record
      return { user: { role, status }, revision }
    }),
    responder(requests.scopesNow, async ({ user: id, token: tokenId }) => {
      const granted = tokenId === null ? undefined : (await liveToken(token, tokenId)).record.scopes
      const { record } = await activeUser(user, id)
      return { scopes: effectiveScopes(record.role, granted) }
    }),
    responder(requests.userNames, async ({ users }) => Object.fromEntries(await names.namesOf(users))),
    responder(requests.usersNamed, ({ q }) => names.namesLike(q)),
    responder(requests.reseal('identity'), reseal),
    responder(requests.retireKeys, retire),
    responder(requests.logHead, async () => ({
      position: await eventStore.head(),
      log: await logIdentity(eventStore),
    })),
    responder(requests.rotateKeys, async rotation => ({
      ...(await rotations[rotation.ring].rotate(rotation)),
      ring: rotation.ring,
    })),
  ]
}
