import type { Attempt } from '@gantry/contracts'

const SERVICE_FAILURES = [
  /** The DNS resolver did not respond. */
  'resolver-failed',
  /** This machine has no route to the network, or lacks resources to open a connection. */
  'network-failed',
  /** The signing secret cannot be decrypted, because the encryption key has changed. */
  'signing-failed',
  /** A bug in the service. */
  'internal-error',
  /** The service stopped during the attempt. */
  'interrupted',
] as const

/** Error codes of failed attempts; stable. */
export const FAILURE_CODES = [
  'address-refused',
  'connect-failed',
  'tls-failed',
  'timeout',
  'closed-early',
  'bad-answer',
  'http-status',
  'redirect',
  ...SERVICE_FAILURES,
] as const

export type FailureCode = (typeof FAILURE_CODES)[number]

const ofService: ReadonlySet<FailureCode> = new Set(SERVICE_FAILURES)

/**
 * Whether an attempt tells how its endpoint does. Without an answer of a name server the fault is unknown: the webhook is not
 * to blame, but further attempts are in vain.
 */
export const concernsEndpoint = ({ fault, error }: Pick<Attempt, 'fault' | 'error'>): boolean =>
  fault !== 'SERVICE' || error === 'resolver-failed'

/** When in doubt the receiver caused a failure, and it counts against the webhook. */
const faultOf = (code: FailureCode) => (ofService.has(code) ? 'SERVICE' : 'RECEIVER')

/** A failed attempt. The code is stable, the message is not. */
export class AttemptFailure extends Error {
  readonly code: FailureCode
  readonly fault: NonNullable<Attempt['fault']>
  constructor(code: FailureCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'AttemptFailure'
    this.code = code
    this.fault = faultOf(code)
  }
}
