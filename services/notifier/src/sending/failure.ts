import type { Fault } from '../delivery/delivery.ts'

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
  | OurFailure

type OurFailure =
  /** The name service did not answer. */
  | 'resolver-failed'
  /** This machine has no way out, or nothing left to open a connection with. */
  | 'network-failed'
  /** The signing secret cannot be opened: the encryption key is another. */
  | 'signing-failed'
  /** A defect of the service. */
  | 'internal-error'
  /** The service stopped while the attempt was under way. */
  | 'interrupted'
  /** The process that made the attempt died, so its outcome is unknown. */
  | 'lost'

const OURS: ReadonlySet<string> = new Set<OurFailure>([
  'resolver-failed',
  'network-failed',
  'signing-failed',
  'internal-error',
  'interrupted',
  'lost',
])

/** Whose a failure is; in doubt the receiver's, whose webhook it then counts against. */
const faultOf = (code: FailureCode): Fault => (OURS.has(code) ? 'SERVICE' : 'RECEIVER')

/** An attempt failed; the message is for people. */
export class AttemptFailure extends Error {
  readonly code: FailureCode
  readonly fault: Fault
  constructor(code: FailureCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'AttemptFailure'
    this.code = code
    this.fault = faultOf(code)
  }
}
