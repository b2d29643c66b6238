import { Refusal, subjects, type UserStanding } from '@gantry/contracts'
import {
  aggregate,
  type CommandMetadata,
  type Fact,
  type Projector,
  reservation,
  startProjector,
  startRelay,
  type Worker,
} from '@gantry/event-sourcing'
import type { Json } from '@gantry/messaging'
import { type Dependencies, instrumented, router, type Service, sendDirectly } from '@gantry/service-kit'
import { z } from 'zod'
import { auditLog, auditProjections } from './audit/audit.projection.ts'
import { auditRoutes } from './audit/audit.routes.ts'
import { type Authenticate, authenticator } from './authentication/authenticate.ts'
import { loginTokens } from './authentication/login-token.ts'
import { platformTokens } from './authentication/platform-token.ts'
import { unauthenticated } from './authentication/unauthenticated.ts'
import { type EnsureAdministrator, firstAdministrator } from './first-administrator.ts'
import { locksProjection } from './login/locks.projection.ts'
import { loginRoutes } from './login/login.routes.ts'
import { logins } from './login/record-login.ts'
import { argon2idPasswords } from './password/password.ts'
import { publicEvents } from './public-events.ts'
import type { IdentitySettings } from './settings.ts'
import { type Rotated, signingKeys } from './signingkey/keys.ts'
import { keyRotation, RotationRequest } from './signingkey/rotation.ts'
import {
  type KeyRing,
  type SigningKeyCommand,
  type SigningKeyEvent,
  signingKeyDecider,
} from './signingkey/signingkey.ts'
import { projectToken, tokens } from './token/token.projection.ts'
import { type ChangeToken, tokenRoutes } from './token/token.routes.ts'
import {
  type LiveToken,
  type TokenCommand,
  type TokenEvent,
  type TokenState,
  tokenDecider,
} from './token/token.ts'
import {
  type AdministratorsCommand,
  type AdministratorsEvent,
  type AdministratorsState,
  administrators,
  administratorsDecider,
} from './user/administrators.ts'
import { type UserCommand, userDecider } from './user/user.decide.ts'
import { locks, projectUser, users } from './user/user.projection.ts'
import { type ChangeUser, userRoutes } from './user/user.routes.ts'
import {
  evolveUser,
  isGlobalAdministrator,
  type LiveUser,
  type UserEvent,
  type UserState,
  usernameOf,
} from './user/user.ts'

export interface IdentityService extends Service {
  /** Creates the administrator of a first start. Does nothing if it was ever created, even if it was deleted since. */
  ensureAdministrator: EnsureAdministrator
  /** Publishes a new signing key, which signs from ten minutes later on. Tokens of the old key stay valid. */
  rotateSigningKey(): Promise<Rotated>
  /** Determines the principal of a credential. @throws Refusal unauthenticated */
  authenticate: Authenticate
}

/** Maximum time that a list of the audit log waits for the projector, in milliseconds. */
const AUDIT_BOUND_MS = 3_000
/** Maximum number of other global administrators that are considered when one is removed. */
const CANDIDATES = 100

/** Types of events that may change the username, or whether the user is a global administrator. */
const CHANGES: ReadonlySet<string> = new Set<UserEvent['type']>(['UserCreated', 'UserUpdated', 'UserDeleted'])

/** The settings of the service, without those of the first administrator. */
export type ServiceSettings = Omit<IdentitySettings, 'GANTRY_ADMIN_USERNAME' | 'GANTRY_ADMIN_PASSWORD'>

/** Users, login, access tokens, signing keys, and the audit log of all services. */
export function identityService(given: Dependencies, settings: ServiceSettings): IdentityService {
  const dependencies = instrumented(given)
  const { eventStore, unknownEvent, readModels, bus, now, newId, log, holder, encryptionKey } = dependencies
  const usersByName = readModels.collection(users)
  const tokensByHash = readModels.collection(tokens)

  /** Metadata of commands of the service itself. @param name of the acting part */
  const ownMetadata = (name = 'identity'): CommandMetadata => {
    const commandId = newId()
    return {
      commandId,
      now: now().toISOString(),
      actor: { id: null, name },
      requestId: commandId,
    }
  }

  const user = aggregate<UserState, UserCommand, UserEvent>({
    eventStore,
    unknownEvent,
    category: 'user',
    decider: userDecider,
    view: { readModels, project: projectUser },
    async reserve(id, { state, revision, unknown }, events, { metadata }) {
      const after = events.reduce((current, event) => evolveUser(current, event, revision), state)
      const username = usernameOf(after)
      const isChange = events.some(({ type }) => CHANGES.has(type))
      // An unknown event may have changed the role or the name of this user, so that another user may hold the name now.
      const mayBeAdministrator = unknown !== undefined || isGlobalAdministrator(state)
      if (isChange && mayBeAdministrator && !isGlobalAdministrator(after))
        await globalAdministrators.leave(id, revision, metadata)
      const held = unknown ? undefined : usernameOf(state)
      if (isChange && username !== undefined && username !== held)
        await claimUsername(username, id, revision, metadata)
    },
  })
  /** Checks the read model first: claims of earlier releases are for names as sent, so a claim in NFC may not conflict. */
  const claimUsername: typeof usernames.claim = async (username, id, revision, metadata) => {
    const [found] = await usersByName.list({ where: { username }, limit: 1 })
    if (found && found.doc.id !== id) {
      const { state } = await user.load(found.doc.id)
      if (usernameOf(state) === username) throw new Refusal('username-taken', { name: username })
    }
    await usernames.claim(username, id, revision, metadata)
  }
  const usernames = reservation({
    eventStore,
    scope: 'user',
    holderCategory: user.category,
    takenCode: 'username-taken',
    now,
    async holding(id) {
      const { state, ...at } = await user.load(id)
      return { name: usernameOf(state), ...at }
    },
  })
  const globalAdministrators = administrators({
    removals: aggregate<AdministratorsState, AdministratorsCommand, AdministratorsEvent>({
      eventStore,
      unknownEvent,
      category: 'administrators',
      decider: administratorsDecider,
    }),
    async candidates() {
      const where = { role: 'GLOBAL_ADMIN', status: 'ACTIVE' }
      return (await usersByName.list({ where, limit: CANDIDATES })).map(({ doc }) => doc.id)
    },
    load: user.load,
    fence: (id, metadata) =>
      user.execute(id, { type: 'FenceRemoval', metadata: { ...metadata, commandId: newId() } }),
    newId,
    log,
  })
  const token = aggregate<TokenState, TokenCommand, TokenEvent>({
    eventStore,
    unknownEvent,
    category: 'token',
    decider: tokenDecider,
    view: { readModels, project: projectToken },
  })
  const keys = signingKeys({
    ring: aggregate<KeyRing, SigningKeyCommand, SigningKeyEvent>({
      eventStore,
      unknownEvent,
      category: 'signingkey',
      decider: signingKeyDecider,
    }),
    encryptionKey,
    now,
    metadata: ownMetadata,
  })

  /** Broadcasts a hint to discard cached data. It may get lost, because caches expire as well. */
  const hint = (subject: string, data: Json) =>
    bus.broadcast(subject, data).catch(error => log.warn({ err: error, subject }, 'a broadcast was lost'))
  const endsPrincipals = ({ type }: Fact) =>
    ['UserUpdated', 'PasswordChanged', 'UserLoggedOut', 'UserDeleted'].includes(type)

  const changeUser: ChangeUser = async (id, command) => {
    const executed = await user.execute(id, command)
    if (executed.facts.some(endsPrincipals)) await hint(subjects.principalChanged, { userId: id })
    for (const message of executed.facts.flatMap(publicEvents)) await sendDirectly(bus, 'catalog', message)
    return executed
  }
  const changeToken: ChangeToken = async (id, command) => {
    const executed = await token.execute(id, command)
    const { state, facts } = executed
    if (state.status === 'Deleted' && facts.length > 0)
      await hint(subjects.principalChanged, { userId: state.userId, tokenId: id })
    return executed
  }

  const rotation = keyRotation({
    keys,
    periodMs: settings.SIGNING_KEY_ROTATION,
    metadata: ownMetadata,
    rotated: key => hint(subjects.keysChanged, { ...key }),
    log,
  })

  /** Pending records of token uses, at most one per token, because concurrent ones would have nothing to record. */
  const usesUnderWay = new Map<string, Promise<void>>()
  const noteUse = ({ record: { id } }: LiveToken, { record }: LiveUser) => {
    if (usesUnderWay.has(id)) return
    const metadata = { ...ownMetadata(), actor: { id: record.id, name: record.username, tokenId: id } }
    const noted = token
      .execute(id, { type: 'NoteUse', metadata })
      .catch(error => log.warn({ err: error, token: id }, 'a use of an access token was not recorded'))
      .then(() => void usesUnderWay.delete(id))
    usesUnderWay.set(id, noted)
  }

  const passwords = argon2idPasswords()
  const locksByUser = readModels.collection(locks)
  const loginsByUser = logins({ eventStore, readModels, user })
  const tokensOfLogins = loginTokens({ keys, now, newId })
  const authenticate = authenticator({
    user,
    users: usersByName,
    token,
    tokens: tokensByHash,
    loginTokens: tokensOfLogins,
    platformTokens: platformTokens(settings, { now, log }),
    noteUse,
    now,
  })

  const standingOf = async (id: string): Promise<UserStanding> => {
    const { state, revision } = await user.load(id)
    if (state.status !== 'Live') return { user: null, revision }
    const { role, status } = state.record
    return { user: { role, status }, revision }
  }

  let projector: Projector | undefined
  let relay: Worker | undefined
  let auditor: Projector | undefined
  const workers: Worker[] = []
  const unsubscribe: (() => void)[] = []

  return {
    name: 'identity',
    projectors: ['identity.projector', 'identity.audit'],
    authenticate,
    ensureAdministrator: firstAdministrator({ user, passwords, encryptionKey, metadata: ownMetadata }),
    rotateSigningKey: () => rotation.rotate({ id: newId(), by: 'identity', compromised: false }),
    routes(app, admit) {
      const route = router(app, admit, dependencies, 'identity')
      loginRoutes(route, {
        changeUser,
        user,
        users: usersByName,
        logins: loginsByUser,
        passwords,
        loginTokens: tokensOfLogins,
      })
      tokenRoutes(route, { changeToken, tokens: tokensByHash })
      userRoutes(route, {
        changeUser,
        users: usersByName,
        locks: locksByUser,
        lastLogin: loginsByUser.last,
        passwords,
        now,
      })
      auditRoutes(route, {
        records: readModels.collection(auditLog),
        async upToDate() {
          if (await auditor?.reached(await eventStore.head(), AUDIT_BOUND_MS)) return
          throw new Refusal('unavailable', { detail: 'the audit log does not have the latest changes yet' })
        },
      })
      // Caches must revalidate, so that tokens of a new key can be verified at once.
      app.get('/.well-known/jwks.json', async (_request, reply) =>
        reply.header('cache-control', 'no-cache').send(await keys.jwks()),
      )
    },
    async start(only) {
      const common = { eventStore, readModels, holder, log }
      projector = startProjector({
        ...common,
        name: 'identity.projector',
        projections: [user.projection, token.projection, locksProjection],
        collections: [users, tokens, locks],
      })
      auditor = startProjector({
        ...common,
        name: 'identity.audit',
        projections: auditProjections,
        collections: [auditLog],
      })
      workers.push(projector, auditor)
      if (only === 'projectors') return
      relay = startRelay({
        ...common,
        bus,
        name: 'identity.relay',
        streamPrefixes: ['user-'],
        publicEvents,
        subjects: [subjects.events('identity', '*')],
      })
      workers.push(rotation.start(), relay)
      unsubscribe.push(
        bus.respond(subjects.authenticate, async question => {
          const asked = Question.safeParse(question)
          if (!asked.success) throw unauthenticated('there is no credential')
          return { ...(await authenticate(asked.data.credential)) }
        }),
        bus.respond(subjects.userStanding, async question => standingOf(UserQuestion.parse(question).user)),
        bus.respond(subjects.rotateKeys, async request => ({
          ...(await rotation.rotate(RotationRequest.parse(request))),
        })),
      )
    },
    /** Does not wait for the auditor: while it is behind, only lists of the audit log are answered with 503. */
    waitingFor() {
      if (relay?.waitsFor) return relay.waitsFor
      if (!projector?.caughtUp) return 'the read models of identity'
      return rotation.ready ? undefined : 'the signing keys'
    },
    async stop() {
      for (const stop of unsubscribe) stop()
      await Promise.all(workers.map(worker => worker.stop()))
      await Promise.all(usesUnderWay.values())
    },
  }
}

const Question = z.object({ credential: z.string() })
const UserQuestion = z.object({ user: z.uuid() })
