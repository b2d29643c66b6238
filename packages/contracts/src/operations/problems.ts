import { z } from 'zod'

interface ProblemKind {
  status: number
  title: string
}

/**
 * All reasons for which a request may fail, by code. This is the only table that maps codes to HTTP statuses.
 * Codes are stable. Titles are for people and may change.
 */
export const PROBLEMS = {
  'malformed-request': { status: 400, title: 'The request is malformed' },
  'invalid-request': { status: 400, title: 'The request has invalid values' },
  'unknown-event-types': { status: 400, title: 'Some event types are unknown' },
  'position-ahead': { status: 400, title: 'The position is after the last event' },
  'image-missing': { status: 400, title: 'The form has no file part' },
  'image-not-alone': { status: 400, title: 'The form has more than one file part' },
  'image-unreadable': { status: 400, title: 'The image cannot be read' },
  'document-unreachable': { status: 400, title: 'The document cannot be fetched' },
  'document-invalid': { status: 400, title: 'The document is invalid' },
  'rule-set-invalid': { status: 400, title: 'The rule set is invalid' },
  unauthenticated: { status: 401, title: 'Valid credentials are required' },
  'wrong-credentials': { status: 401, title: 'The user name or the password is wrong' },
  'scope-missing': { status: 403, title: 'The credentials do not have the required scope' },
  'role-missing': { status: 403, title: 'The role of the user does not allow this' },
  'scopes-exceeded': { status: 403, title: 'An access token cannot have more scopes than its creator' },
  'sso-login-only': { status: 403, title: 'This user logs in through single sign-on' },
  'user-inactive': { status: 403, title: 'The user is inactive' },
  'not-found': { status: 404, title: 'The path names no resource' },
  'api-not-found': { status: 404, title: 'There is no such API' },
  'version-not-found': { status: 404, title: 'The API has no such version' },
  'document-not-found': { status: 404, title: 'The version has no such document' },
  'rule-set-not-found': { status: 404, title: 'There is no such rule set' },
  'image-not-found': { status: 404, title: 'The API has no image' },
  'user-not-found': { status: 404, title: 'There is no such user' },
  'access-token-not-found': { status: 404, title: 'There is no such access token' },
  'webhook-not-found': { status: 404, title: 'There is no such webhook' },
  'environment-not-found': { status: 404, title: 'There is no such environment' },
  'recovery-not-found': { status: 404, title: 'There is no such recovery' },
  'read-model-not-found': { status: 404, title: 'There is no such read model' },
  'delivery-not-found': { status: 404, title: 'There is no such delivery' },
  'job-not-found': { status: 404, title: 'There is no such job' },
  'event-schema-not-found': { status: 404, title: 'There is no such schema of an event' },
  'method-not-allowed': { status: 405, title: 'The resource does not support this method' },
  'not-acceptable': { status: 406, title: 'The service cannot answer in the requested media types' },
  'request-timeout': { status: 408, title: 'The request was not received in time' },
  'log-replaced': { status: 409, title: 'The event log of this position was replaced' },
  'api-name-taken': { status: 409, title: 'Another API has this name' },
  'environment-name-taken': { status: 409, title: 'Another environment has this name' },
  'version-name-taken': { status: 409, title: 'Another version of the API has this name' },
  'too-many-versions': { status: 409, title: 'The API has the maximum number of versions' },
  'too-many-documents': { status: 409, title: 'The version has the maximum number of documents' },
  'too-many-rule-sets': { status: 409, title: 'The maximum number of rule sets exists' },
  'rule-set-built-in': { status: 409, title: 'The rule set is built in' },
  'username-taken': { status: 409, title: 'Another user has this name' },
  'last-administrator': { status: 409, title: 'At least one active global administrator is required' },
  'not-restorable': { status: 409, title: 'The earlier state breaks a rule that holds today' },
  'api-not-deployed': { status: 409, title: 'The API is not deployed to this environment' },
  'deployment-running': { status: 409, title: 'A deployment job of this API and environment is running' },
  'deployment-not-running': {
    status: 409,
    title: 'No deployment job of this API and environment is running',
  },
  'too-many-webhooks': { status: 409, title: 'The owner has the maximum number of webhooks' },
  'webhook-inactive': { status: 409, title: 'The webhook is inactive' },
  'webhook-deleted': { status: 409, title: 'The webhook of the delivery is deleted' },
  'owner-lacks-scope': { status: 409, title: 'The owner of the webhook may not read an event type' },
  'recovery-running': { status: 409, title: 'A recovery of the webhook is running' },
  'recovery-not-running': { status: 409, title: 'The recovery is not running' },
  'rebuild-not-running': { status: 409, title: 'No rebuild of the read model is requested or runs' },
  'job-not-running': { status: 409, title: 'The job has ended' },
  'too-many-jobs': { status: 409, title: 'The user has the maximum number of running jobs' },
  'delivery-not-pending': { status: 409, title: 'The delivery is not pending' },
  'delivery-not-failed': { status: 409, title: 'The delivery has not failed' },
  'request-in-progress': { status: 409, title: 'A request with this Idempotency-Key is in progress' },
  'write-conflict': { status: 409, title: 'Too many concurrent changes to the same resource' },
  'position-gone': { status: 410, title: 'Events after this position have been removed' },
  'document-gone': { status: 410, title: 'The bytes of the replaced document were removed' },
  'precondition-failed': { status: 412, title: 'The resource has changed' },
  'body-too-large': { status: 413, title: 'The body is too large' },
  'document-too-large': { status: 413, title: 'The document is too large' },
  'image-too-large': { status: 413, title: 'The image is too large' },
  'uri-too-long': { status: 414, title: 'The URL is too long' },
  'unsupported-media-type': { status: 415, title: 'The media type of the body is not supported' },
  'image-type-unsupported': { status: 415, title: 'The file is not PNG, JPEG, GIF, WebP or SVG' },
  'range-not-satisfiable': { status: 416, title: 'The range is outside of the document' },
  'idempotency-key-reused': { status: 422, title: 'The Idempotency-Key was used for another request' },
  'too-many-requests': { status: 429, title: 'Too many requests' },
  'headers-too-large': { status: 431, title: 'The headers are too large' },
  'internal-error': { status: 500, title: 'An internal error occurred' },
  unavailable: { status: 503, title: 'A part of the service is unavailable' },
  'body-memory-full': { status: 503, title: 'Too many request bodies are being received' },
  'response-memory-full': { status: 503, title: 'Too many responses have not been received by clients' },
  'stream-quarantined': { status: 503, title: 'The history of this resource cannot be processed' },
  'too-many-checks': { status: 503, title: 'Too many documents are being checked' },
  'too-many-exports': { status: 503, title: 'Too many exports of the audit log are running' },
  'too-many-replays': { status: 503, title: 'Too many event streams are reading past events' },
  'events-incomplete': { status: 503, title: 'Events are being published again' },
  'not-ready': { status: 503, title: 'The service is not ready yet' },
} as const satisfies Record<string, ProblemKind>

export type ProblemCode = keyof typeof PROBLEMS

export const isProblemCode = (code: string): code is ProblemCode => Object.hasOwn(PROBLEMS, code)

const Fault = z
  .looseObject({
    field: z.string().optional(),
    message: z.string(),
    line: z.int().nullish(),
    column: z.int().nullish(),
    pointer: z.string().nullish().meta({ description: 'JSON Pointer (RFC 6901); null for other syntaxes' }),
  })
  .meta({ id: 'ProblemFault' })

/** Problem details (RFC 9457 §3) with the extension members of all problems. */
export const Problem = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z.string().meta({ description: 'Stable, kebab-case' }),
    requestId: z.string(),
    timestamp: z.string(),
    errors: z.array(Fault).optional().meta({
      description:
        'With `field`; for the content of a document or a rule set with `line`, `column` and `pointer`',
    }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457 problem details' })
export type Problem = z.infer<typeof Problem>

/**
 * A command or request that is not allowed. The code says why. `details` become members of the problem, except `headers`,
 * which become headers of the response.
 */
export class Refusal extends Error {
  readonly code: ProblemCode
  readonly details: Record<string, unknown>
  constructor(code: ProblemCode, details: Record<string, unknown> = {}) {
    super(code)
    this.name = 'Refusal'
    this.code = code
    this.details = details
  }
}

/** The refusal of a field of the body or a query parameter, e.g. `at` with "must not be in the future". */
export const invalidField = (field: string, message: string): Refusal =>
  new Refusal('invalid-request', { detail: `${field} ${message}`, errors: [{ field, message }] })
