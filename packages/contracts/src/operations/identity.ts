import { z } from 'zod'
import { operation } from './operation.ts'
import {
  ActiveStatus,
  label,
  optional,
  pageOf,
  paging,
  secretWithheld,
  Timestamp,
  text,
  Uuid,
  writtenTime,
} from './primitives.ts'
import { Role, Scope } from './scopes.ts'

/** Control (including bidirectional), format, private-use and unassigned characters, and others that are not displayed. */
const INVISIBLE = /[\p{C}\p{Default_Ignorable_Code_Point}]/u
/** White space other than the ASCII space. */
const ODD_SPACE = /(?! )\p{Z}/u
/** Scripts that have letters that look like letters of another script in this list. */
const ALIKE = [
  /\p{Script=Latin}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Lisu}/u,
]

const mixesScripts = (value: string) => ALIKE.filter(script => script.test(value)).length > 1
/** Whether a text has compatibility forms of letters, such as fullwidth letters (UAX #15, "Compatibility equivalence"). */
const hasLetterForms = (value: string) =>
  [...value].some(character => /\p{L}/u.test(character) && character.normalize('NFKC') !== character)

/** The form in which usernames are stored and compared: Unicode NFC (UAX #15). */
export const normalUsername = (name: string): string => name.normalize('NFC')

/**
 * A username without invisible characters and without look-alike letters of other scripts, so that it cannot imitate
 * another username (Unicode Technical Standard #39, "Mixed-Script Detection").
 */
export const Username = label(255)
  .transform(normalUsername)
  .refine(value => !INVISIBLE.test(value) && !ODD_SPACE.test(value), {
    error: 'must have no invisible characters and no white space other than spaces',
  })
  .refine(value => !mixesScripts(value), {
    error: 'must not mix Latin, Greek, Cyrillic or other scripts whose letters look alike',
  })
  .refine(value => !hasLetterForms(value), {
    error: 'must have no letters that are forms of other letters, such as fullwidth ones',
  })
  .meta({ override: { type: 'string', minLength: 1, maxLength: 255 } })

const part = { service: 'identity' } as const

export const AuthenticatedUser = z
  .object({
    id: z.uuid(),
    username: z.string(),
    displayName: z.string(),
    email: z.string().nullable(),
    role: Role,
    status: ActiveStatus,
  })
  .meta({ id: 'AuthenticatedUser' })

export const UserRecord = AuthenticatedUser.extend({
  sso: z.boolean().meta({ description: 'Logs in through single sign-on' }),
  lockedUntil: Timestamp.nullable().meta({ description: 'Locked after too many wrong passwords' }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}).meta({ id: 'User' })
export type UserRecord = z.infer<typeof UserRecord>

const email = text(320).refine(value => /^[^\s@]+@[^\s@]+$/.test(value), {
  error: 'must be an email address',
})
const password = text(1024, 12).meta({ description: 'Write-only; at least 12 characters' })
const user = {
  username: Username.meta({
    description:
      'Unique. Stored and compared in Unicode NFC. Must not contain invisible characters, or mix scripts whose letters look alike',
  }),
  displayName: optional(label(255)).meta({ description: 'Default: the username' }),
  email: optional(email),
  role: Role.nullish().transform(value => value ?? 'USER'),
  status: ActiveStatus.nullish().transform(value => value ?? 'ACTIVE'),
  sso: z
    .boolean()
    .nullish()
    .transform(value => value ?? false),
}
export const UserInput = z
  .object({ ...user, password: optional(password).meta({ description: 'Required unless sso' }) })
  .refine(input => input.sso || input.password !== null, {
    path: ['password'],
    error: 'is required unless sso',
  })
  .meta({ id: 'UserInput' })
export type UserInput = z.infer<typeof UserInput>
export const UserUpdate = z
  .object({ ...user, password: optional(password).meta({ description: 'Unchanged when absent' }) })
  .meta({ id: 'UserUpdate' })
export type UserUpdate = z.infer<typeof UserUpdate>

const me = {
  id: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55',
  username: 'admin',
  displayName: 'Administrator',
  email: null,
  role: 'GLOBAL_ADMIN' as const,
  status: 'ACTIVE' as const,
}
export const userExample: UserRecord = {
  ...me,
  sso: false,
  lockedUntil: null,
  createdAt: '2026-11-21T09:30:00.000Z',
  updatedAt: '2026-11-21T09:30:00.000Z',
}

export const login = operation('login', 'POST /login', {
  ...part,
  tag: 'Login',
  summary: 'Log in with username and password',
  description:
    'The bearer token is in the Authorization response header and is valid for one hour. Five wrong passwords in a row lock a user for 15 minutes.',
  scope: 'public',
  body: z
    .object({ username: z.string().max(1000), password: z.string().max(2000) })
    .meta({ id: 'Credentials' }),
  bodyLimit: 8_192,
  bodyExample: { username: 'admin', password: 'correct horse battery staple' },
  responses: {
    200: {
      description: 'The user',
      schema: AuthenticatedUser,
      headers: { Authorization: 'Bearer, followed by the token' },
      example: me,
    },
  },
  problems: ['wrong-credentials', 'sso-login-only', 'user-inactive'],
})

export const logout = operation('logout', 'POST /logout', {
  ...part,
  tag: 'Login',
  summary: 'Revoke all login tokens of the caller',
  scope: 'authenticated',
  responses: { 204: { description: 'Logged out' } },
})

export const Session = z
  .object({
    user: AuthenticatedUser,
    scopes: z.array(Scope).meta({
      description:
        'What the credential may do: the scopes of the role; for an access token, those of them that the token has as well',
    }),
    credential: z.enum(['LOGIN', 'ACCESS_TOKEN', 'PLATFORM_JWT']).meta({ id: 'CredentialKind' }),
    accessToken: z
      .object({ id: z.uuid(), name: z.string() })
      .meta({ id: 'UsedAccessToken' })
      .nullable()
      .meta({ description: 'The access token, if the credential is one' }),
    expiresAt: Timestamp.meta({ description: 'When the credential expires unless it is revoked before' }),
  })
  .meta({ id: 'Session' })
export type Session = z.infer<typeof Session>

export const getSession = operation('getSession', 'GET /session', {
  ...part,
  tag: 'Login',
  summary: 'Get the caller and what their credential may do',
  scope: 'authenticated',
  responses: {
    200: {
      description: 'The user, with the kind, the scopes and the expiry of the credential of this request',
      schema: Session,
      example: {
        user: me,
        scopes: ['API_READ', 'API_WRITE'],
        credential: 'ACCESS_TOKEN',
        accessToken: { id: 'f1d3c0de-8b52-4e9f-8a44-3a2f4f6c1d22', name: 'deploy pipeline' },
        expiresAt: '2027-02-19T09:30:00.000Z',
      } satisfies Session,
    },
  },
})

export const changePassword = operation('changePassword', 'PUT /session/password', {
  ...part,
  tag: 'Login',
  summary: "Change the caller's password",
  description:
    'Revokes all login tokens of the caller. A caller with a login token gets a new one in the Authorization response header. A wrong `password` counts as that of a login.',
  scope: 'authenticated',
  body: z
    .object({
      password: z.string().max(2000).meta({ description: 'The present password' }),
      newPassword: password,
    })
    .meta({ id: 'PasswordChange' }),
  bodyLimit: 8_192,
  bodyExample: { password: 'correct horse battery staple', newPassword: 'a long enough one' },
  responses: {
    204: {
      description: 'Changed',
      headers: { Authorization: 'Bearer, followed by a new token, for a caller with a login token' },
    },
  },
  problems: ['sso-login-only'],
})

const TokenPath = z.object({ id: Uuid })
const token = {
  id: z.uuid(),
  name: z.string(),
  scopes: z.array(Scope),
  createdAt: Timestamp,
  validUntil: Timestamp.meta({ description: 'createdAt and validityDays of the request' }),
}
export const AccessTokenRecord = z
  .object({
    ...token,
    lastUsedAt: Timestamp.nullable().meta({
      description:
        'Time of a use, at most 10 minutes before the last one: uses are recorded every 10 minutes. Null before the first use',
    }),
  })
  .meta({ id: 'AccessToken' })
export type AccessTokenRecord = z.infer<typeof AccessTokenRecord>
export const NewAccessToken = AccessTokenRecord.extend({
  token: z.string().nullable().meta({ description: 'The secret. Shown only in this response' }),
  secretWithheld,
}).meta({ id: 'NewAccessToken' })

export const AccessTokenInput = z
  .object({
    name: label(255),
    validityDays: z
      .int()
      .min(1)
      .max(365)
      .nullish()
      .transform(value => value ?? 90)
      .meta({ description: 'Default: 90' }),
    scopes: z
      .array(Scope)
      .min(1, { error: 'must have at least one scope' })
      .max(100)
      .transform(scopes => [...new Set(scopes)]),
  })
  .meta({ id: 'AccessTokenInput' })

const tokenExample = {
  id: 'f1d3c0de-8b52-4e9f-8a44-3a2f4f6c1d22',
  name: 'deploy pipeline',
  scopes: ['API_READ', 'API_WRITE'],
  createdAt: '2026-11-21T09:30:00.000Z',
  validUntil: '2027-02-19T09:30:00.000Z',
  lastUsedAt: null,
}

export const createAccessToken = operation('createAccessToken', 'POST /accessTokens', {
  ...part,
  tag: 'Access tokens',
  summary: 'Create a personal access token',
  description:
    'The caller needs each of the `scopes`: their role must have it, and so must the access token of the request. Otherwise the answer is `scopes-exceeded`.\n\nTo rotate a token: create the new one with an `Idempotency-Key` that contains the id of the old one, store the new `token`, then delete the old one. If the program dies meanwhile, it repeats all steps. The same key then gives the same new token instead of another one. If `token` is null, keep the old token, delete the new one, and use another key.',
  scope: 'ACCESS_TOKEN_MANAGE',
  body: AccessTokenInput,
  bodyExample: { name: 'deploy pipeline', validityDays: 90, scopes: ['API_READ', 'API_WRITE'] },
  responses: {
    201: {
      description: 'The token with its secret',
      schema: NewAccessToken,
      headers: { Location: 'Path of the token' },
      example: { ...tokenExample, token: 'pat_…' },
    },
  },
  problems: ['scopes-exceeded'],
  idempotent: true,
  secretFields: ['token'],
})

const tokenQuery = z.object(paging(['name', 'createdAt', 'validUntil'], 'createdAt,asc'))
const AccessTokenPage = pageOf(AccessTokenRecord, 'AccessTokenPage')
const EXPIRED = 'Expired tokens stay in the list until they are deleted.'

export const listAccessTokens = operation('listAccessTokens', 'GET /accessTokens', {
  ...part,
  tag: 'Access tokens',
  summary: "List the caller's access tokens",
  description: EXPIRED,
  scope: 'ACCESS_TOKEN_MANAGE',
  query: tokenQuery,
  responses: { 200: { description: 'A page of access tokens', schema: AccessTokenPage } },
})

export const getAccessToken = operation('getAccessToken', 'GET /accessTokens/{id}', {
  ...part,
  tag: 'Access tokens',
  summary: "Get one of the caller's access tokens",
  scope: 'ACCESS_TOKEN_MANAGE',
  params: TokenPath,
  responses: { 200: { description: 'The access token', schema: AccessTokenRecord, example: tokenExample } },
  problems: ['access-token-not-found'],
})

export const deleteAccessToken = operation('deleteAccessToken', 'DELETE /accessTokens/{id}', {
  ...part,
  tag: 'Access tokens',
  summary: "Revoke one of the caller's access tokens",
  scope: 'ACCESS_TOKEN_MANAGE',
  params: TokenPath,
  responses: { 204: { description: 'Revoked' } },
  problems: ['access-token-not-found'],
})

const UserPath = z.object({ user_id: Uuid })
const UserTokenPath = z.object({ user_id: Uuid, id: Uuid })
const ofUsers = { ...part, tag: 'Access tokens' } as const
const NOT_ABOVE = 'Not of a user with a role above that of the caller.'

export const listUserAccessTokens = operation('listUserAccessTokens', 'GET /users/{user_id}/accessTokens', {
  ...ofUsers,
  summary: 'List the access tokens of a user',
  description: `${NOT_ABOVE} ${EXPIRED}`,
  scope: 'USER_READ',
  params: UserPath,
  query: tokenQuery,
  responses: { 200: { description: 'A page of access tokens', schema: AccessTokenPage } },
  problems: ['user-not-found', 'role-missing'],
})

export const getUserAccessToken = operation('getUserAccessToken', 'GET /users/{user_id}/accessTokens/{id}', {
  ...ofUsers,
  summary: 'Get an access token of a user',
  description: NOT_ABOVE,
  scope: 'USER_READ',
  params: UserTokenPath,
  responses: { 200: { description: 'The access token', schema: AccessTokenRecord, example: tokenExample } },
  problems: ['user-not-found', 'role-missing', 'access-token-not-found'],
})

export const deleteUserAccessToken = operation(
  'deleteUserAccessToken',
  'DELETE /users/{user_id}/accessTokens/{id}',
  {
    ...ofUsers,
    summary: 'Revoke an access token of a user',
    description: NOT_ABOVE,
    scope: 'USER_WRITE',
    params: UserTokenPath,
    responses: { 204: { description: 'Revoked' } },
    problems: ['user-not-found', 'role-missing', 'access-token-not-found'],
  },
)

export const deleteUserAccessTokens = operation(
  'deleteUserAccessTokens',
  'DELETE /users/{user_id}/accessTokens',
  {
    ...ofUsers,
    summary: 'Revoke all access tokens of a user',
    description: NOT_ABOVE,
    scope: 'USER_WRITE',
    params: UserPath,
    responses: { 204: { description: 'Revoked' } },
    problems: ['user-not-found', 'role-missing'],
  },
)

const users = { ...part, tag: 'Users' } as const

export const listUsers = operation('listUsers', 'GET /users', {
  ...users,
  summary: 'List users',
  scope: 'USER_READ',
  query: z.object({
    ...paging(['username', 'displayName', 'email', 'role', 'status', 'createdAt'], 'username,asc'),
    text: text(1000)
      .optional()
      .meta({ description: 'Each term is a case-insensitive substring of username, displayName or email' }),
    username: z.string().optional(),
    role: Role.optional(),
    status: ActiveStatus.optional(),
  }),
  responses: { 200: { description: 'A page of users', schema: pageOf(UserRecord, 'UserPage') } },
})

export const createUser = operation('createUser', 'POST /users', {
  ...users,
  summary: 'Create a user',
  description:
    'Callers cannot create users with a role above their own, and cannot create an administrator with an access token that lacks a scope of that role.',
  scope: 'USER_WRITE',
  body: UserInput,
  bodyExample: {
    username: 'grace',
    displayName: 'Grace Hopper',
    email: 'grace@example.com',
    role: 'ADMIN',
    password: 'a long enough one',
  },
  responses: {
    201: {
      description: 'The new user',
      schema: UserRecord,
      headers: { Location: 'Path of the user' },
      example: userExample,
    },
  },
  problems: ['username-taken', 'role-missing', 'user-not-found'],
  idempotent: true,
  conditional: true,
})

export const getUser = operation('getUser', 'GET /users/{user_id}', {
  ...users,
  summary: 'Get a user',
  scope: 'USER_READ',
  params: UserPath,
  responses: { 200: { description: 'The user', schema: UserRecord, example: userExample } },
  problems: ['user-not-found'],
  conditional: true,
})

export const updateUser = operation('updateUser', 'PUT /users/{user_id}', {
  ...users,
  summary: 'Replace a user',
  description:
    'An omitted password is unchanged. An omitted role becomes USER, and an omitted status becomes ACTIVE.',
  scope: 'USER_WRITE',
  params: UserPath,
  body: UserUpdate,
  bodyExample: {
    username: 'grace',
    displayName: 'Grace Hopper',
    email: 'grace@example.com',
    role: 'ADMIN',
    status: 'ACTIVE',
  },
  responses: { 200: { description: 'The user', schema: UserRecord, example: userExample } },
  problems: ['user-not-found', 'username-taken', 'role-missing', 'last-administrator', 'precondition-failed'],
  conditional: true,
})

export const deleteUser = operation('deleteUser', 'DELETE /users/{user_id}', {
  ...users,
  summary: 'Delete a user and revoke their tokens',
  scope: 'USER_WRITE',
  params: UserPath,
  responses: { 204: { description: 'Deleted' } },
  problems: ['user-not-found', 'role-missing', 'last-administrator', 'precondition-failed'],
  conditional: true,
})

export const ErasureRecord = z
  .object({
    id: z.uuid().meta({ description: 'Id of the user, which APIs and audit records keep' }),
    erasedAt: Timestamp,
    backupsErasedAt: Timestamp.meta({
      description: 'When the last backup of user keys that may still have the key is to be deleted',
    }),
  })
  .meta({ id: 'Erasure' })

export const eraseUser = operation('eraseUser', 'POST /users/{user_id}/erase', {
  ...users,
  summary: 'Erase the personal data of a user',
  description:
    'Deletes the user, if that has not happened yet, and the key that their personal data are encrypted with. It cannot be undone. Repeating it changes nothing.',
  scope: 'USER_WRITE',
  params: UserPath,
  responses: {
    200: {
      description: 'The personal data are erased',
      schema: ErasureRecord,
      example: {
        id: me.id,
        erasedAt: '2026-11-21T09:30:00.000Z',
        backupsErasedAt: '2026-12-21T09:30:00.000Z',
      },
    },
  },
  problems: ['user-not-found', 'role-missing', 'last-administrator', 'precondition-failed'],
  conditional: true,
})

export const unlockUser = operation('unlockUser', 'POST /users/{user_id}/unlock', {
  ...users,
  summary: 'Unlock a user',
  scope: 'USER_WRITE',
  params: UserPath,
  responses: { 200: { description: 'The user', schema: UserRecord, example: userExample } },
  problems: ['user-not-found', 'role-missing'],
})

export const AuditRecord = z
  .object({
    id: z.uuid(),
    timestamp: Timestamp,
    user: z.object({ id: z.string().nullable(), username: z.string().nullable() }).meta({
      id: 'AuditUser',
      description:
        'Who made the change. id is null for changes by the service itself, whose part is then the username. username is the present one, the last one of a deleted user, and null when the user is erased',
    }),
    action: z.string().meta({ example: 'API_UPDATED' }),
    resourceType: z.string().meta({ example: 'API' }),
    resourceId: z.string(),
    details: z
      .object({
        before: z.record(z.string(), z.unknown()).nullable(),
        after: z.record(z.string(), z.unknown()).nullable(),
      })
      .meta({ id: 'AuditDetails' }),
    environment: z.string().nullable().meta({
      description: 'Id of the environment of a deployment or an undeployment; null for other changes',
    }),
    requestId: z.string(),
    address: z.string().nullable().meta({
      description: 'Network address of the caller. Null when it is unknown, and when the user is erased',
    }),
    number: z.int().meta({ description: 'Number of the record in the hash chain, from 1' }),
    position: z.string().meta({ description: 'Position in the event log' }),
    recordedAt: Timestamp.meta({ description: "Time of recording by the store's clock" }),
  })
  .meta({
    id: 'AuditRecord',
    example: {
      id: 'f3b5a1c2-9d0e-4f6a-8b7c-1d2e3f4a5b6c',
      timestamp: '2026-11-21T09:30:00.000Z',
      user: { id: 'b7e6a1de-0c6b-4a0b-8f51-2b8d9a3c4e55', username: 'admin' },
      action: 'API_UPDATED',
      resourceType: 'API',
      resourceId: '5b1f1c9e-6d0f-4c58-9a43-9d6b8c2a7e10',
      details: { before: { displayName: 'Payment' }, after: { displayName: 'Payments' } },
      environment: null,
      requestId: '6a1b0f0e-54a7-4a0f-9c86-3d0f3f2b7c11',
      address: '203.0.113.7',
      number: 4711,
      position: '0000000000019240',
      recordedAt: '2026-11-21T09:30:00.012Z',
    },
  })
export type AuditRecord = z.infer<typeof AuditRecord>

/** Filters of the audit log. Times stay as they are written: trailers of exports repeat the filters. */
const auditFilters = {
  text: text(1000).optional().meta({
    description:
      'Each term is a case-insensitive substring of the user id, of the action, of the type, id or name of the resource at that time, or of the name of the API that it belongs to, of at most 1,000 APIs for each of the first 10 terms; usernames are not searched',
  }),
  from: writtenTime('Earliest timestamp, inclusive'),
  to: writtenTime('Latest timestamp, exclusive'),
  user: z.string().optional().meta({ description: 'User id, or the username of a user who is not deleted' }),
  action: z.string().optional(),
  resource: z.string().optional().meta({
    description:
      'Resource id or resource type. The id of an API also finds its versions, documents and image, that of a version its documents',
  }),
}

export const listAuditLog = operation('listAuditLog', 'GET /auditLog', {
  ...part,
  tag: 'Audit',
  summary: 'List changes of resources',
  scope: 'AUDIT_LOG_READ',
  query: z.object({
    ...paging(['timestamp', 'action', 'resourceType'], 'timestamp,desc'),
    ...auditFilters,
  }),
  responses: { 200: { description: 'A page of audit records', schema: pageOf(AuditRecord, 'AuditPage') } },
})

/** The media types of an export of the audit log by format, the one for callers without a preference first. */
export const EXPORT_MEDIA_TYPES = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  cef: 'text/plain',
} as const

export const exportAuditLog = operation('exportAuditLog', 'GET /auditLog/export', {
  ...part,
  tag: 'Audit',
  summary: 'Export the audit log with its proofs',
  description: `All records up to now in the order of the log, as newline-delimited JSON, CSV (RFC 4180) or CEF:0 (text/plain), as \`format\` or the Accept header says. The filters are those of the list; of the records that they leave out, the export has the hashes. The export ends with a signed trailer that says what it contains, so that every later change is found. Trailers also stand between the records: an interrupted export is continued after the last one received, which is passed as \`trailer\`, with the same format and filters. What is received then is appended to what was received before. The number of exports at the same time is limited, in all and for each user; a further one is answered with 503 and Retry-After. A client that does not read for 30 seconds is disconnected.`,
  scope: 'AUDIT_LOG_READ',
  query: z.object({
    ...auditFilters,
    format: z
      .enum(['ndjson', 'csv', 'cef'])
      .meta({ id: 'ExportFormat' })
      .optional()
      .meta({ description: 'Takes precedence over the Accept header' }),
    after: z
      .string()
      .regex(/^\d{1,15}$/, { error: 'must be the number of a record' })
      .transform(Number)
      .optional()
      .meta({
        description: 'Number of the record after which the export begins',
        override: { type: 'integer', minimum: 0, pattern: undefined },
      }),
    trailer: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,8000}$/, { error: 'must be the line of a trailer in base64url' })
      .optional()
      .meta({
        description: 'The last trailer received, as the JSON of its line in base64url: continues that export',
      }),
  }),
  responses: {
    200: {
      description: 'The export',
      mediaTypes: Object.values(EXPORT_MEDIA_TYPES),
    },
  },
  problems: ['not-acceptable', 'too-many-exports'],
})
