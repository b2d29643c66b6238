/** An RFC 9457 problem with the members that every refusal of the service has. */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  instance: string
  code: string
  requestId: string
  timestamp: string
  errors?: { field: string; message: string }[]
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
export const isTimestamp = (value: unknown) => typeof value === 'string' && TIMESTAMP.test(value)

const isText = (value: unknown) => typeof value === 'string' && value !== ''

/** The differences between a refusal and a complete problem of the service; empty when there are none. */
export const faultsOf = (body: unknown, status: number, headers: Headers): string[] => {
  if (!headers.get('content-type')?.startsWith('application/problem+json')) {
    return [`content type is ${headers.get('content-type')}, not application/problem+json`]
  }
  const problem = (body ?? {}) as Partial<Record<keyof Problem, unknown>>
  const { code, errors } = problem
  const rules: [boolean, string][] = [
    [isText(problem.type), 'type is missing'],
    [isText(problem.title), 'title is missing'],
    [problem.status === status, `status is ${problem.status}, not ${status}`],
    [isText(problem.detail), 'detail is missing'],
    [isText(problem.instance), 'instance is missing'],
    [typeof code === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(code), `code ${code} is not kebab-case`],
    [problem.requestId === headers.get('x-request-id'), 'requestId is not that of the header'],
    [isTimestamp(problem.timestamp), `timestamp ${problem.timestamp} is not ISO 8601 UTC with milliseconds`],
    [
      errors === undefined ||
        (Array.isArray(errors) &&
          errors.every(
            error => isText(error?.message) && (typeof error.field === 'string' || 'pointer' in error),
          )),
      'errors is not a list of messages with their field or pointer',
    ],
    [
      !/\n\s+at |\.[jt]s:\d+|node_modules|node:internal/.test(String(problem.detail)),
      'it shows a stack trace',
    ],
    [status !== 401 || headers.has('www-authenticate'), 'WWW-Authenticate is missing'],
    [![429, 503].includes(status) || headers.has('retry-after'), 'Retry-After is missing'],
  ]
  return rules.filter(([kept]) => !kept).map(([, fault]) => fault)
}
