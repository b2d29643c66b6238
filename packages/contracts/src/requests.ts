import { z } from 'zod'
import { DocumentKind } from './operations/document-kinds.ts'
import { DocumentRecord } from './operations/documents.ts'
import { ActiveStatus, Timestamp } from './operations/primitives.ts'
import { Principal, Role, Scope } from './operations/scopes.ts'
import { ServiceState } from './operations/system.ts'

/**
 * A request to a service, from another one or from an operator. It may be sent again to another replica, so a repeated
 * request has no further effect.
 */
export interface ServiceRequest<Asked extends z.ZodType = z.ZodType, Answer extends z.ZodType = z.ZodType> {
  /** The service that answers. */
  service: string
  id: string
  asked: Asked
  answer: Answer
  timeoutMs: number
}

const to = <Asked extends z.ZodType, Answer extends z.ZodType>(
  service: string,
  name: string,
  request: Pick<ServiceRequest<Asked, Answer>, 'asked' | 'answer' | 'timeoutMs'>,
): ServiceRequest<Asked, Answer> => ({ service, id: `${service}.${name}`, ...request })

/** Role and status of a user, as identity knows them. */
const UserStanding = z.object({
  /** Null when the user does not exist or was deleted. */
  user: z.object({ role: Role, status: ActiveStatus }).nullable(),
  /** Revision of the user's stream; -1 when the user never existed. */
  revision: z.int(),
})
export type UserStanding = z.infer<typeof UserStanding>

/** Maximum number of users of a request for names. */
export const MAX_NAMED_USERS = 1_000

/** The names of a user, as identity knows them. */
const UserName = z.object({
  username: z.string(),
  displayName: z.string(),
  /** Whether the user was deleted. The names are their last ones. */
  deleted: z.boolean(),
})
export type UserName = z.infer<typeof UserName>

/** Maximum number of versions in an answer to `versionsBefore`. */
export const MAX_VERSIONS_BEFORE = 1_000

/** Maximum number of operations in an answer to `describedBy`. */
export const MAX_DESCRIBED = 1_000

/** What a document says about an API, for searches. */
const Description = z.object({
  title: z.string().nullable(),
  /** A piece of the operations, each as its path, id and summary. */
  operations: z.array(z.string()),
  /** Number of all operations. */
  total: z.int(),
})

/** Whose signing keys. */
const Ring = z.enum(['login', 'audit'])

const Rotation = z.object({
  /** Unique for each rotation. */
  id: z.uuid(),
  /** Names the operator. */
  by: z.string().min(1).max(255),
  /** Revokes every earlier key, and with it all login tokens. */
  compromised: z.boolean(),
  ring: Ring,
})
export type Rotation = z.infer<typeof Rotation>

/** A page of secrets to seal again: those after the place where the last answer ended. */
const Reseal = z.object({
  after: z.string().nullable(),
  /**
   * Fingerprint of the first key, from the first answer. A process whose first key differs seals nothing and answers
   * with its own.
   */
  fingerprint: z.string().optional(),
})
export type Reseal = z.infer<typeof Reseal>

const Resealed = z.object({
  /** The first key of the process that answers. */
  key: z.object({ id: z.string(), fingerprint: z.string() }),
  /** Number of secrets that were checked, and how many of them another key had sealed. */
  examined: z.int(),
  resealed: z.int(),
  /** Names of secrets that no key opens, or that could not be read. */
  failed: z.array(z.string()),
  /** Place after which the next request continues; null at the end. */
  next: z.string().nullable(),
})
export type Resealed = z.infer<typeof Resealed>

const RefusedOperation = z.object({
  /** Unique for each refusal. */
  id: z.uuid(),
  /** When it was refused. It selects the stream of the record, so that a repeated request finds the first one. */
  time: Timestamp,
  user: z.uuid(),
  tokenId: z.string().nullable(),
  /** The sealed address of the principal. */
  address: z.string().optional(),
  operation: z.string(),
  path: z.string(),
  requestId: z.string(),
})

/** The properties of a document that media has stored and that no version has yet. */
const ReceivedDocument = DocumentRecord.omit({
  primary: true,
  createdAt: true,
  updatedAt: true,
  updatedBy: true,
})
export type ReceivedDocument = z.infer<typeof ReceivedDocument>

/** What a document says about the API that it belongs to; null for what it does not say. */
const AboutApi = z.object({
  name: z.string().nullable(),
  provider: z.string().nullable(),
  service: z.string().nullable(),
  description: z.string().nullable(),
})
export type AboutApi = z.infer<typeof AboutApi>

/** The requests between services, and those of operators to services. */
export const requests = {
  /** The principal of a credential, used from a network address. Refused as unauthenticated when it has none. */
  authenticate: to('identity', 'authenticate', {
    asked: z.object({ credential: z.string(), address: z.string() }),
    answer: Principal,
    timeoutMs: 4_000,
  }),
  /** An operation that was refused with 403, for the audit log. */
  operationRefused: to('identity', 'operation-refused', {
    asked: RefusedOperation,
    answer: z.null(),
    timeoutMs: 4_000,
  }),
  /** Position of the last event in the log, and the identity of the log. */
  logHead: to('identity', 'log-head', {
    asked: z.object({}),
    answer: z.object({ position: z.string(), log: z.string() }),
    timeoutMs: 4_000,
  }),
  userStanding: to('identity', 'user-standing', {
    asked: z.object({ user: z.uuid() }),
    answer: UserStanding,
    timeoutMs: 2_000,
  }),
  /**
   * The scopes that a user has now, with an access token if one is named. Refused as unauthenticated when the user does not
   * exist or is inactive, or the token is revoked.
   */
  scopesNow: to('identity', 'scopes-now', {
    asked: z.object({ user: z.uuid(), token: z.string().nullable() }),
    answer: z.object({ scopes: z.array(Scope) }),
    timeoutMs: 2_000,
  }),
  /** Names by user id. Users who never existed, and those whose personal data are erased, are left out. */
  userNames: to('identity', 'user-names', {
    asked: z.object({ users: z.array(z.string()).max(MAX_NAMED_USERS) }),
    answer: z.record(z.string(), UserName),
    timeoutMs: 1_000,
  }),
  /** Display names by user id: of at most 100 users for each word of a query that their names have. */
  usersNamed: to('identity', 'users-named', {
    asked: z.object({ q: z.string() }),
    answer: z.record(z.string(), z.string()),
    timeoutMs: 1_000,
  }),
  /** A document of a version as it is now, and its operations from a number on; null if there is none. */
  describedBy: to('media', 'described-by', {
    asked: z.object({ api: z.string(), version: z.string(), name: z.string(), from: z.int().min(0) }),
    answer: z.object({ description: Description.nullable() }),
    // A check of the stored bytes takes up to 16 s, and a request is sent to two replicas.
    timeoutMs: 40_000,
  }),
  /** The APIs that have a document with a lower score, each with its lowest one: at most `MAX_SCORED`, the worst first. */
  scoresBelow: to('media', 'scores-below', {
    asked: z.object({ score: z.int() }),
    answer: z.object({ scores: z.array(z.tuple([z.string(), z.int()])) }),
    timeoutMs: 4_000,
  }),
  apiExists: to('catalog', 'api-exists', {
    asked: z.object({ api: z.string() }),
    answer: z.object({ exists: z.boolean() }),
    timeoutMs: 4_000,
  }),
  /** The version of an API that an id or a name means, now or at a time. Refused if there is none. */
  findVersion: to('catalog', 'find-version', {
    asked: z.object({
      api: z.string(),
      version: z.string(),
      at: z.string().optional(),
      /** Whether an API that is not ACTIVE counts as missing. */
      active: z.boolean().optional(),
    }),
    answer: z.object({ id: z.string() }),
    timeoutMs: 4_000,
  }),
  /** Lists APIs in the order of their names, with their documents. */
  documentedApis: to('catalog', 'documented-apis', {
    asked: z.object({ page: z.int(), size: z.int(), active: z.boolean() }),
    answer: z.object({
      total: z.int(),
      apis: z.array(
        z.object({
          id: z.string(),
          documents: z.array(z.object({ version: z.string(), name: z.string(), kind: DocumentKind })),
        }),
      ),
    }),
    timeoutMs: 10_000,
  }),
  /** The latest versions of an API that were created before a version, the last one first. */
  versionsBefore: to('catalog', 'versions-before', {
    asked: z.object({ api: z.string(), version: z.string() }),
    answer: z.object({ ids: z.array(z.string()).max(MAX_VERSIONS_BEFORE) }),
    timeoutMs: 4_000,
  }),
  /** Fetches a document from a URL, of the addresses that webhooks may reach. */
  fetchDocument: to('notifier', 'fetch-document', {
    asked: z.object({ url: z.string().max(2_048) }),
    answer: z.object({ gzip: z.base64(), charset: z.string().optional() }),
    timeoutMs: 34_000,
  }),
  /** Checks a document and stores its bytes, which are removed after some hours unless a version gets it. */
  receiveDocument: to('media', 'receive-document', {
    asked: z.object({ gzip: z.base64(), charset: z.string().optional() }),
    answer: z.object({ document: ReceivedDocument.omit({ name: true }), about: AboutApi }),
    // Each of two tries has the time that a check may last.
    timeoutMs: 34_000,
  }),
  /** Gives a received document to a version, or tells what that would change. */
  attachDocument: to('media', 'attach-document', {
    asked: z.object({
      api: z.uuid(),
      version: z.uuid(),
      document: ReceivedDocument,
      dryRun: z.boolean(),
      metadata: z.object({
        commandId: z.uuid(),
        actor: z.object({
          id: z.string().nullable(),
          name: z.string(),
          tokenId: z.string().optional(),
          address: z.string().optional(),
        }),
        requestId: z.string(),
        repeated: z.boolean(),
      }),
    }),
    answer: z.object({ action: z.enum(['CREATE', 'UPDATE', 'NONE']) }),
    timeoutMs: 10_000,
  }),
  /** A public event for a service to handle at once. The bus brings the same event later. */
  react: (service: 'catalog' | 'media') =>
    to(service, 'react', {
      asked: z.object({
        id: z.string(),
        subject: z.string(),
        data: z.json(),
        headers: z.record(z.string(), z.string()).optional(),
      }),
      answer: z.null(),
      timeoutMs: 5_000,
    }),
  /** Answered by each replica of a service for itself. */
  processState: (service: string) =>
    to(service, 'process-state', { asked: z.null(), answer: ServiceState, timeoutMs: 3_000 }),
  /** By an operator: rotates signing keys. */
  rotateKeys: to('identity', 'rotate-keys', {
    asked: Rotation,
    answer: z.object({ kid: z.string(), signsFrom: z.string(), ring: Ring }),
    timeoutMs: 5_000,
  }),
  /** By an operator: seals a page of secrets again, with the first key of ENCRYPTION_KEY. */
  reseal: (service: 'identity' | 'notifier') =>
    to(service, 'reseal', { asked: Reseal, answer: Resealed, timeoutMs: 30_000 }),
  /**
   * By an operator, once all secrets are sealed with the first key, which `fingerprint` identifies. Answers with the
   * ids of the keys that are no longer in use.
   */
  retireKeys: to('identity', 'retire-encryption-keys', {
    asked: z.object({ fingerprint: z.string() }),
    answer: z.object({ retired: z.array(z.string()) }),
    timeoutMs: 30_000,
  }),
}
