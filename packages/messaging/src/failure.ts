import { RequestFailed } from './bus.ts'

/**
 * The error that a requester gets when the responder threw: a refusal (an error with a code and details) keeps them, any
 * other error becomes `internal-error`.
 */
export function failureOf(error: unknown): RequestFailed {
  const message = error instanceof Error ? error.message : String(error)
  return isRefusal(error)
    ? new RequestFailed(error.code, message, error.details)
    : new RequestFailed('internal-error', message)
}

const isRefusal = (error: unknown): error is { code: string; details: Record<string, unknown> } =>
  error instanceof Error &&
  'code' in error &&
  typeof error.code === 'string' &&
  'details' in error &&
  typeof error.details === 'object' &&
  error.details !== null
