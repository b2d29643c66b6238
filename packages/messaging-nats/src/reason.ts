import { BusUnavailable } from '@gantry/messaging'
import { ErrorCode, NatsError } from 'nats'
import type { Session } from './connection.ts'

const WORDS: Readonly<Record<string, string>> = {
  [ErrorCode.ConnectionRefused]: 'the connection was refused; is a nats-server running there?',
  [ErrorCode.ConnectionTimeout]: 'it does not answer',
  [ErrorCode.Timeout]: 'it does not answer',
  [ErrorCode.ConnectionClosed]: 'the connection was lost',
  [ErrorCode.Disconnect]: 'the connection was lost',
  [ErrorCode.AuthorizationViolation]: 'it refuses the user, password, token or key',
  [ErrorCode.AuthenticationTimeout]: 'it refuses the user, password, token or key',
  [ErrorCode.BadAuthentication]: 'the user, password, token or key cannot be used',
  [ErrorCode.BadCreds]: 'the credentials cannot be read',
  [ErrorCode.AuthenticationExpired]: 'the credentials have expired',
  [ErrorCode.AccountExpired]: 'the account has expired',
  [ErrorCode.NoResponders]: 'JetStream is not enabled there; start the server with: nats-server -js',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the host',
  ETIMEDOUT: 'it does not answer',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
}

/** JetStream's own codes (nats-server, server/errors.json). */
const JETSTREAM_WORDS: Readonly<Record<number, string>> = {
  10039: 'JetStream is not enabled for the account',
  10076: 'JetStream is not enabled there; start the server with: nats-server -js',
}

/** Why the server could not be used, in words for the operator. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const jetStream = error instanceof NatsError ? error.api_error : undefined
  if (jetStream) return JETSTREAM_WORDS[jetStream.err_code ?? 0] ?? `JetStream says: ${jetStream.description}`
  if (error instanceof NatsError && error.code === ErrorCode.ServerOptionNotAvailable)
    return error.message === 'tls'
      ? 'it does not offer encryption (TLS)'
      : `it does not offer ${error.message}`
  if (error.message.includes('unexpected response from server')) return 'what answers there is no nats-server'
  const code = 'code' in error ? String(error.code) : ''
  // Before 2.10 nats-server tells a client without a certificate that its certificate is bad.
  if (/ALERT_(BAD_CERTIFICATE|CERTIFICATE_REQUIRED)$/.test(code))
    return 'it wants a certificate that it trusts'
  return WORDS[code] ?? error.message
}

/** Whether it is the answer of JetStream with this code. */
export const isJetStreamError = (error: unknown, code: number): boolean =>
  error instanceof NatsError && error.api_error?.err_code === code

/** What the client throws when it can do nothing means that the bus is away; anything else stays as it is. */
export function failureIn({ nc }: Session, error: unknown): unknown {
  if (!(error instanceof NatsError)) return error
  // Requests that were under way when it closed look to the client as if they had timed out.
  return new BusUnavailable(nc.isClosed() ? 'the connection was lost' : reasonOf(error))
}
