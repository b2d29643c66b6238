/** Why an attempt failed; stable, for programs. */
export type FailureCode =
  | 'dns-failed'
  | 'address-refused'
  | 'connect-failed'
  | 'tls-failed'
  | 'timeout'
  | 'closed-early'
  | 'bad-answer'
  | 'http-status'
  | 'redirect'
  /** Ours: the service stopped while the attempt was under way. */
  | 'interrupted'
  /** Ours: the process that made the attempt died, so its outcome is unknown. */
  | 'lost'

/** An attempt failed; the message is for people. */
export class AttemptFailure extends Error {
  readonly code: FailureCode
  constructor(code: FailureCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'AttemptFailure'
    this.code = code
  }
}
