import type { Fault } from '../delivery/delivery.ts'

/** Error code of a failed attempt; stable. */
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
  /** The DNS resolver did not respond. */
  | 'resolver-failed'
  /** This machine has no route to the network, or lacks resources to open a connection. */
  | 'network-failed'
  /** The signing secret cannot be decrypted, because the encryption key has changed. */
  | 'signing-failed'
  /** A bug in the service. */
  | 'internal-error'
  /** The service stopped during the attempt. */
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

/** The party that caused a failure. When in doubt it is the receiver, and the failure counts against its webhook. */
const faultOf = (code: FailureCode): Fault => (OURS.has(code) ? 'SERVICE' : 'RECEIVER')

/** A failed attempt. The code is stable, the message is not. */
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
