import { BusUnavailable } from '@gantry/messaging'
import { ErrorCode, type NatsConnection, NatsError } from 'nats'

const WORDS: Readonly<Record<string, string>> = {
  [ErrorCode.ConnectionRefused]: 'the connection was refused; is a nats-server running there?',
  [ErrorCode.ConnectionTimeout]: 'the server does not answer',
  [ErrorCode.Timeout]: 'the server does not answer',
  [ErrorCode.ConnectionClosed]: 'the connection was lost',
  [ErrorCode.Disconnect]: 'the connection was lost',
  [ErrorCode.AuthorizationViolation]: 'the server rejects the user, password, token or key',
  [ErrorCode.AuthenticationTimeout]: 'the server rejects the user, password, token or key',
  [ErrorCode.BadAuthentication]: 'the user, password, token or key cannot be used',
  [ErrorCode.BadCreds]: 'the credentials cannot be read',
  [ErrorCode.AuthenticationExpired]: 'the credentials have expired',
  [ErrorCode.AccountExpired]: 'the account has expired',
  [ErrorCode.NoResponders]: 'JetStream is not enabled there; start the server with: nats-server -js',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name of the host cannot be looked up',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the host is unreachable',
  ETIMEDOUT: 'the server does not answer',
  ECONNRESET: 'the connection was lost',
  EPIPE: 'the connection was lost',
}

/** Texts by JetStream error code (nats-server, server/errors.json). */
const JETSTREAM_WORDS: Readonly<Record<number, string>> = {
  10039: 'JetStream is not enabled for the account',
  10076: 'JetStream is not enabled there; start the server with: nats-server -js',
}

/** The reason why the server could not be used, as text for operators. */
export function natsFailureOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const jetStream = error instanceof NatsError ? error.api_error : undefined
  if (jetStream)
    return JETSTREAM_WORDS[jetStream.err_code ?? 0] ?? `JetStream answered: ${jetStream.description}`
  if (error instanceof NatsError && error.code === ErrorCode.ServerOptionNotAvailable)
    return error.message === 'tls'
      ? 'the server does not offer encryption (TLS)'
      : `the server does not offer ${error.message}`
  if (error.message.includes('unexpected response from server')) return 'the server is not a nats-server'
  const code = 'code' in error ? String(error.code) : ''
  // nats-server before 2.10 reports a missing client certificate as a bad one.
  if (/ALERT_(BAD_CERTIFICATE|CERTIFICATE_REQUIRED)$/.test(code))
    return 'the server requires a client certificate that it trusts'
  return WORDS[code] ?? error.message
}

export const isJetStreamError = (error: unknown, code: number): boolean =>
  error instanceof NatsError && error.api_error?.err_code === code

/** Translates errors of the client, which mean that the bus is unavailable. Other errors are returned unchanged. */
export function toBusError({ nc }: { readonly nc: NatsConnection }, error: unknown): unknown {
  if (!(error instanceof NatsError)) return error
  // When the connection closes, requests in progress fail with a timeout.
  return new BusUnavailable(nc.isClosed() ? 'the connection was lost' : natsFailureOf(error))
}
