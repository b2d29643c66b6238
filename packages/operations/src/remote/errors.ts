import { CommandFailed } from '../command.ts'

/** The service refused the request. The message is for the user of the command. */
export class Refused extends CommandFailed {
  readonly status: number
  /** Code of the problem, e.g. position-gone; undefined when the answer was no problem document. */
  readonly code: string | undefined
  /** The pause that the service asks for, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, answer: { status: number; code?: string; retryAfterMs?: number | undefined }) {
    super(message)
    this.status = answer.status
    this.code = answer.code
    this.retryAfterMs = answer.retryAfterMs
  }

  /** Whether the same request may succeed later. */
  get isTemporary(): boolean {
    return this.status === 429 || this.status >= 500
  }
}

/** There is no connection to the service, or it was lost. */
export class ConnectionLost extends CommandFailed {}

/** The reason of a failed fetch, whose own message says only that it failed. */
export function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: Error & { code?: string } }
  return cause?.message || cause?.code || message || String(error)
}
