import { type AuditHead, type AuditKeys, auditRecords } from '@gantry/audit'
import { subjects } from '@gantry/contracts'
import { Projector, type Publication } from '@gantry/event-sourcing'
import {
  instrumented,
  ownMetadata,
  resourceMessages,
  router,
  type Service,
  serviceFrom,
} from '@gantry/service-runtime'
import { accessesOf } from './audit/access/accesses.ts'
import { auditor } from './audit/auditor.ts'
import { auditExports } from './audit/exports.ts'
import { auditRoutes } from './audit/log/log.routes.ts'
import { proofRoutes } from './audit/proofs/proofs.routes.ts'
import { type Authenticate, authenticator, withAddress } from './authentication/authenticate.ts'
import { loginTokens } from './authentication/login-token.ts'
import { platformTokens } from './authentication/platform-token.ts'
import { erasureRoutes, erasuresOf } from './erasure/erasures.ts'
import { type EnsureAdministrator, firstAdministrator } from './first-administrator.ts'
import { loginRoutes } from './login/login.routes.ts'
import { loginsAggregate } from './login/logins.ts'
import { argon2idPasswords } from './password/password.ts'
import { type IdentityDependencies, personalData } from './personal-data/personal-data.ts'
import { opening } from './personal-data/sealed-change.ts'
import { propagatedChanges } from './propagated-changes.ts'
import { readModelRoutes } from './readmodel/readmodel.routes.ts'
import { resealing, retiring } from './reseal.ts'
import { respondersOf } from './responders.ts'
import { sessionRoutes } from './session/session.routes.ts'
import type { IdentitySettings } from './settings.ts'
import { type Rotated, signingKeys } from './signingkey/keys.ts'
import { keyRotation } from './signingkey/rotation.ts'
import { publishKeys, signingKeyRoutes } from './signingkey/signingkey.routes.ts'
import { tokenAggregate, tokens } from './token/token.projection.ts'
import { tokenRoutes } from './token/token.routes.ts'
import { tokenUses } from './token/token-uses.ts'
import { userAggregate } from './user/user.aggregate.ts'
import { erasedUsers, locks, users } from './user/user.projection.ts'
import { userRoutes } from './user/user.routes.ts'
import { namesFrom } from './user/user-names.ts'

export interface IdentityService extends Service {
  /** Creates the administrator of a first start. Does nothing if it was ever created, even if it was deleted since. */
  ensureAdministrator: EnsureAdministrator
  /** Publishes a new signing key, which signs from ten minutes later on. Tokens of the old key stay valid. */
  rotateSigningKey(): Promise<Rotated>
  /** What proves the audit log. */
  audit: { keys: AuditKeys; head: AuditHead }
  /** Determines the principal of a credential. @throws Refusal unauthenticated */
  authenticate: Authenticate
}

/** The settings of the service, without those of the first administrator. */
export type ServiceSettings = Omit<IdentitySettings, 'GANTRY_ADMIN_USERNAME' | 'GANTRY_ADMIN_PASSWORD'>

/**
 * Users, login, access tokens, signing keys, and the audit log of all services.
 * @param passwords by default argon2id in threads, with the cost of production
 */
export function identityService(
  asStored: IdentityDependencies,
  settings: ServiceSettings,
  passwords = argon2idPasswords(),
): IdentityService {
  const { ciphers, ...personal } = personalData(asStored)
  // Its event store has the personal fields of users in clear text.
  const inClearText = instrumented({ ...asStored, eventStore: personal.eventStore })
  const { eventStore, readModels, bus, now, newId, encryptionKeys, process } = inClearText
  const { log } = process
  const metadata = (actor = 'identity') => ownMetadata(inClearText, actor)
  const views = viewsOf(inClearText)
  const projector = new Projector({
    ...inClearText,
    ...process,
    name: 'identity.projector',
    collections: [users, tokens, locks, erasedUsers],
  })
  const user = userAggregate(inClearText, projector)
  const token = tokenAggregate(inClearText, projector)
  const logins = loginsAggregate(inClearText, projector)
  const keys = signingKeys('login', inClearText, metadata)
  const { changeUser, changeToken, rotated } = propagatedChanges({ user, token, bus, log })
  const rotation = keyRotation({ ...ROTATION, keys, metadata, rotated, log })
  const uses = tokenUses({ token, metadata, log })
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
  const keyStore = { ciphers, store: asStored.userKeys }
  const erasures = erasuresOf({ user, changeUser, changeToken, readModels, keys: keyStore, metadata, log })
  // The audit log and the relay read the events as they are stored.
  const audit = auditor(instrumented(asStored), metadata)
  const rings = { 'signing keys of logins': keys, 'signing keys of audit proofs': audit.ring }
  const reseal = resealing({ rings, ciphers, userKeys: asStored.userKeys, encryptionKeys, metadata })
  const rotations = { login: rotation, audit: audit.rotation }
  const shown = { ...namesFrom(views.users, user, log), ...opening(ciphers) }
  const accesses = accessesOf(inClearText)
  const answering = { authenticate: withAddress(authenticate, ciphers), accesses, retire: retiring(asStored) }
  const exported = { ...shown, pseudonyms: ciphers.pseudonyms, accesses, audit }
  const exports = auditExports(inClearText, settings, exported)
  const aggregates = { user, token }
  const service = serviceFrom(asStored, {
    name: 'identity',
    projectors: [projector, audit.projector],
    routes(app, admit) {
      const route = router(app, admit, inClearText, 'identity')
      const changing = { changeUser, ...views, passwords }
      loginRoutes(route, { ...changing, user, accesses, ciphers, logins, loginTokens: tokensOfLogins })
      sessionRoutes(route, { ...changing, user, token, logins, loginTokens: tokensOfLogins })
      tokenRoutes(route, { changeToken, user, ...views })
      userRoutes(route, { ...changing, lastLogin: async id => (await logins.load(id)).state, now })
      erasureRoutes(route, { erasures, backupRetentionMs: settings.USER_KEY_BACKUP_RETENTION })
      auditRoutes(route, { readModels, recordsOf: auditRecords(shown), upToDate: audit.upToDate })
      proofRoutes(route, { readModels, audit, now })
      readModelRoutes(route, inClearText)
      signingKeyRoutes(route, { login: keys, audit: audit.ring })
      exports.routes(route)
      publishKeys(app, { 'jwks.json': keys.jwks, 'audit-keys.json': audit.keys.published })
    },
    publication,
    workers: [rotation.start, erasures.start, ...audit.workers, ...personal.workers, ...exports.workers],
    responders: respondersOf({ ...answering, aggregates, names: shown, rotations, eventStore, reseal }),
    drain: uses.recorded,
  })
  return {
    ...service,
    audit,
    authenticate,
    ensureAdministrator: firstAdministrator({ user, passwords, encryptionKeys, metadata }),
    rotateSigningKey: () =>
      rotation.rotate({ id: newId(), by: 'identity', compromised: false, ring: 'login' }),
  }
}

/** The key that signs login tokens is rotated at this age. */
const ROTATION = { name: 'identity.signing-keys', periodMs: 30 * 86_400_000 }
const publication: Publication = {
  streamPrefixes: ['user-'],
  publicEvents: event => resourceMessages('identity', event),
  subjects: [subjects.events('identity', '*')],
}

/** The read models that routes query. */
const viewsOf = ({ readModels }: Pick<IdentityDependencies, 'readModels'>) => ({
  users: readModels.collection(users),
  tokens: readModels.collection(tokens),
  locks: readModels.collection(locks),
})
