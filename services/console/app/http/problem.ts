import { ConnectionError, ProblemError } from '@gantry/client'

/** A field of a request body, e.g. `tags/0`, with what is wrong with it. */
interface FieldError {
  field: string
  message: string
}

interface ProblemDetails {
  /** Status of the response; 0 without a usable response. */
  status: number
  code: string
  title: string
  detail: string
  requestId?: string | undefined
  errors?: readonly FieldError[] | undefined
  retryAfterSeconds?: number | undefined
  /** All members of the problem of the response, e.g. `oldestPosition`. */
  members?: Readonly<Record<string, unknown>> | undefined
}

/** A request that has no usable response, or that the console refuses by itself. */
export class RequestFailed extends Error {
  readonly problem: ProblemDetails
  constructor(problem: ProblemDetails) {
    super(problem.title)
    this.name = 'RequestFailed'
    this.problem = problem
  }
}

/** What a person can do about a problem, by its code or its status. */
const ADVICE: Readonly<Record<string, string>> = {
  unreachable: 'Check the network connection, then try again.',
  'no-answer': 'The service is slow or overloaded. Try again in a moment.',
  'invalid-response':
    'A proxy between this page and the service may have answered instead. Reload the page, or ask the operator.',
  'gateway-failed': 'The service may be restarting. Try again in some seconds.',
  'console-error': 'Reload the page. If it happens again, tell the operator what you did.',
  'wrong-credentials': 'Upper and lower case matter.',
  'not-a-token': 'Copy the whole token again.',
  'other-user': 'Sign in as the same user, or sign out first.',
  'sso-login-only': 'Sign in with an access token.',
  'user-inactive': 'Ask an administrator to activate the user.',
  'api-name-taken': 'Choose another name.',
  'version-name-taken': 'Choose another name.',
  'username-taken': 'Choose another name.',
  'last-administrator': 'Make another user a global administrator first.',
  'document-invalid': 'Correct the file, then drop it again.',
  'document-too-large': 'Split it, e.g. by parts of the API, or leave out examples.',
  'too-many-documents': 'Delete a document of this version first, or add a version.',
  'too-many-checks': 'Other documents are being checked. Try again in some seconds.',
  'request-in-progress': 'The same request is still running. Wait a moment and try again.',
  'webhook-inactive': 'Activate the webhook first.',
  401: 'Sign in again, or use a token that is valid.',
  403: 'Ask an administrator for the missing right, or use an access token that has it.',
  404: 'It may have been deleted. Go back to the list and look for it there.',
  409: 'Another person may have changed it. Look at the current state and try again.',
  412: 'Compare your changes with the current state, then save again.',
  429: 'Wait a moment and try again.',
  500: 'Try again. If it happens again, give the request id to the operator.',
  503: 'A part of the service is unavailable at the moment. Try again in some seconds.',
}

/** What to do about a failed request, as a sentence; undefined if the fields of a form say it. */
export const adviceOn = ({ status, code }: ProblemDetails): string | undefined =>
  ADVICE[code] ?? ADVICE[status]

/** The problem of a response that is not from the service, e.g. the page of a proxy. */
export const unreadable = (status: number): ProblemDetails =>
  [502, 503, 504].includes(status)
    ? {
        status,
        code: 'gateway-failed',
        title: 'The service is unavailable',
        detail: `A proxy between this page and the service answered with status ${status}.`,
      }
    : {
        status,
        code: 'invalid-response',
        title: 'The response cannot be read',
        detail: `The response with status ${status} is not from the service.`,
      }

/** The problem of a response (RFC 9457). */
function problemOf({ problem, status, errors, requestId, retryAfterMs = 0 }: ProblemError): ProblemDetails {
  const { code, title, detail } = problem.code === 'invalid-response' ? unreadable(status) : problem
  return {
    ...{ status, code, title, detail, requestId },
    errors: errors.map(({ field = '', message }) => ({ field, message })),
    retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) || undefined,
    members: { ...problem },
  }
}

/** Any thrown value as a problem, so that every error is shown in the same way. */
export function asProblem(error: unknown): ProblemDetails {
  if (error instanceof RequestFailed) return error.problem
  if (error instanceof ProblemError) return problemOf(error)
  if (error instanceof ConnectionError) return asProblem(error.cause)
  const detail = error instanceof Error ? error.message : String(error)
  return { status: 0, code: 'console-error', title: 'The console has a defect', detail }
}
