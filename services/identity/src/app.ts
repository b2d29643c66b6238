import { subjects } from '@gantry/contracts'
import { aggregate, Projector } from '@gantry/event-sourcing'
import {
  type Dependencies,
  instrumented,
  ownMetadata,
  router,
  type Service,
  serviceFrom,
} from '@gantry/service-kit'
import { auditLog } from './audit/audit.projection.ts'
import { auditRoutes } from './audit/audit.routes.ts'
import { auditor } from './audit/auditor.ts'
import { type Authenticate, authenticator } from './authentication/authenticate.ts'
import { loginTokens } from './authentication/login-token.ts'
import { platformTokens } from './authentication/platform-token.ts'
import { type EnsureAdministrator, firstAdministrator } from './first-administrator.ts'
import { locksProjection } from './login/locks.projection.ts'
import { loginRoutes } from './login/login.routes.ts'
import { logins } from './login/record-login.ts'
import { argon2idPasswords } from './password/password.ts'
import { propagatedChanges } from './propagated-changes.ts'
import { publicEvents } from './public-events.ts'
import { respondersOf } from './responders.ts'
import type { IdentitySettings } from './settings.ts'
import { type Rotated, signingKeys } from './signingkey/keys.ts'
import { keyRotation } from './signingkey/rotation.ts'
import {
  type KeyRing,
  type SigningKeyCommand,
  type SigningKeyEvent,
  signingKeyDecider,
} from './signingkey/signingkey.ts'
import { projectToken, tokens } from './token/token.projection.ts'
import { tokenRoutes } from './token/token.routes.ts'
import { type TokenCommand, type TokenEvent, type TokenState, tokenDecider } from './token/token.ts'
import { tokenUses } from './token/token-uses.ts'
import { userAggregate } from './user/user.aggregate.ts'
import { locks, users } from './user/user.projection.ts'
import { userRoutes } from './user/user.routes.ts'
import { namesFrom } from './user/user-names.ts'

export interface IdentityService extends Service {
  /** Creates the administrator of a first start. Does nothing if it was ever created, even if it was deleted since. */
  ensureAdministrator: EnsureAdministrator
  /** Publishes a new signing key, which signs from ten minutes later on. Tokens of the old key stay valid. */
  rotateSigningKey(): Promise<Rotated>
  /** Determines the principal of a credential. @throws Refusal unauthenticated */
  authenticate: Authenticate
}

/** The settings of the service, without those of the first administrator. */
export type ServiceSettings = Omit<IdentitySettings, 'GANTRY_ADMIN_USERNAME' | 'GANTRY_ADMIN_PASSWORD'>

/** Users, login, access tokens, signing keys, and the audit log of all services. */
export function identityService(given: Dependencies, settings: ServiceSettings): IdentityService {
  const dependencies = instrumented(given)
  const { eventStore, unknownEvent, readModels, bus, now, newId, encryptionKey, process } = dependencies
  const { log } = process
  const metadata = (actor = 'identity') => ownMetadata(dependencies, actor)
  const views = {
    users: readModels.collection(users),
    tokens: readModels.collection(tokens),
    locks: readModels.collection(locks),
  }
  const projector = new Projector({
    ...dependencies,
    ...process,
    name: 'identity.projector',
    projections: [locksProjection],
    collections: [users, tokens, locks],
  })
  const user = userAggregate(dependencies, projector)
  const token = aggregate<TokenState, TokenCommand, TokenEvent>({
    eventStore,
    unknownEvent,
    category: 'token',
    decider: tokenDecider,
    view: { projector, project: projectToken },
  })
  const ring = aggregate<KeyRing, SigningKeyCommand, SigningKeyEvent>({
    eventStore,
    unknownEvent,
    category: 'signingkey',
    decider: signingKeyDecider,
  })
  const keys = signingKeys({ ring, encryptionKey, now, metadata })
  const { changeUser, changeToken, rotated } = propagatedChanges({ user, token, bus, log })
  const rotation = keyRotation({ keys, periodMs: settings.SIGNING_KEY_ROTATION, metadata, rotated, log })
  const uses = tokenUses({ token, metadata, log })
  const passwords = argon2idPasswords()
  const loginsByUser = logins({ eventStore, readModels, user })
  const tokensOfLogins = loginTokens({ keys, now, newId })
  const authenticate = authenticator({
    user,
    token,
    ...views,
    loginTokens: tokensOfLogins,
    platformTokens: platformTokens(settings, { now, log }),
    noteUse: uses.note,
    now,
  })
  const audit = auditor(dependencies)
  const namesOf = namesFrom(views.users, user, log)

  const service = serviceFrom(dependencies, {
    name: 'identity',
    projectors: [projector, audit.projector],
    routes(app, admit) {
      const route = router(app, admit, dependencies, 'identity')
      const changing = { changeUser, ...views, passwords }
      loginRoutes(route, { ...changing, user, logins: loginsByUser, loginTokens: tokensOfLogins })
      tokenRoutes(route, { changeToken, ...views })
      userRoutes(route, { ...changing, lastLogin: loginsByUser.last, now })
      const records = readModels.collection(auditLog)
      auditRoutes(route, { records, users: views.users, namesOf, upToDate: audit.upToDate })
      // Caches must revalidate, so that tokens of a new key can be verified at once.
      app.get('/.well-known/jwks.json', async (_request, reply) =>
        reply.header('cache-control', 'no-cache').send(await keys.jwks()),
      )
    },
    publication: { streamPrefixes: ['user-'], publicEvents, subjects: [subjects.events('identity', '*')] },
    workers: [rotation.start],
    responders: respondersOf({ authenticate, user, namesOf, rotation, eventStore }),
    drain: uses.recorded,
  })
  return {
    ...service,
    authenticate,
    ensureAdministrator: firstAdministrator({ user, passwords, encryptionKey, metadata }),
    rotateSigningKey: () => rotation.rotate({ id: newId(), by: 'identity', compromised: false }),
  }
}
