import type { ProblemCode, Schemas } from './operations.generated.ts'

type Schema = Schemas['Problem']

/** The members of a response that refuses a request (RFC 9457), and of a response that is not from the service. */
export interface Problem extends Schema {
  /** Later releases may have other codes. `invalid-response`: the response is not from the service, e.g. a page of a proxy. */
  code: ProblemCode | 'invalid-response' | (string & {})
}

/** The service has refused a request, or could not carry it out. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly status: number
  readonly code: Problem['code']
  readonly title: string
  readonly detail: string
  /** What is wrong with the fields of the request, or with the document; empty for problems of other kinds. */
  readonly errors: readonly Schemas['ProblemFault'][]
  /** Id of the request, by which operators find it in logs. */
  readonly requestId: string | undefined
  /** Pause that the service asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined
  /** All members, e.g. `oldestPosition` of `position-gone`. */
  readonly problem: Problem

  constructor(problem: Problem, headers = new Headers()) {
    super(`${problem.status} ${problem.code} ${problem.detail}`.trim())
    this.problem = problem
    this.status = problem.status
    this.code = problem.code
    this.title = problem.title
    this.detail = problem.detail
    this.errors = problem.errors ?? []
    this.requestId = problem.requestId || (headers.get('x-request-id') ?? undefined)
    this.retryAfterMs = retryAfterMs(headers.get('retry-after'))
  }
}

/**
 * No complete response was received. The service may have carried out the request. The cause is the error of fetch, whose own
 * cause has the code of the system in Node, e.g. ECONNREFUSED.
 */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError'

  /** @param request method and URL */
  constructor(request: string, cause: unknown) {
    const { code } = ((cause as Error)?.cause ?? {}) as { code?: string }
    super(`${request}: ${cause instanceof Error ? cause.message : cause}${code ? ` (${code})` : ''}`, {
      cause,
    })
  }
}

/** The error of a response whose status is not a success. */
export async function problemOf(response: Response): Promise<ProblemError> {
  const text = await response.text()
  return new ProblemError(parsedProblem(text) ?? invalidResponse(response), response.headers)
}

function parsedProblem(text: string): Problem | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value?.code === 'string' && typeof value.status === 'number' ? value : undefined
  } catch {
    return undefined
  }
}

/** The problem of a response that is not from the service. */
export const invalidResponse = ({ status, url }: Response): Problem => ({
  type: 'about:blank',
  title: 'The response is not from the service',
  status,
  detail: `The response of ${url} cannot be read`,
  instance: '',
  code: 'invalid-response',
  requestId: '',
  timestamp: new Date().toISOString(),
})

/** Retry-After as seconds or as a date (RFC 9110 §10.2.3), in milliseconds. */
function retryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(ms, 0)
}
