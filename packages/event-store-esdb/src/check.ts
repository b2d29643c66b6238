import { EventStoreUnavailable } from '@gantry/event-sourcing'
import { TIMEOUT_MS } from './event-store.ts'
import { connect, disconnect, EventStoreUrlRefused, hostsOf } from './server/connection.ts'
import { refusedAccess, within } from './server/errors.ts'

/** The first version that tells a subscription when it has caught up. */
const OLDEST = { major: 23, minor: 10 }

/**
 * Checks that the server can be used. To be called before a service becomes ready, and repeated with backoff while it
 * throws.
 * @returns its version, e.g. 23.10.6
 * @throws EventStoreUrlRefused when the setting is invalid, its user is refused, or the server is too old
 * @throws EventStoreUnavailable when the server does not answer; the message names the setting and the host
 */
export async function checkEventStore(connectionString: string, timeoutMs = TIMEOUT_MS): Promise<string> {
  const client = connect(connectionString, 'reads')
  try {
    // The capabilities of the server; the client has no public API for them.
    // biome-ignore lint/complexity/useLiteralKeys: access to a protected member needs this form
    const { serverVersion } = await within(timeoutMs, client['capabilities'])
    if (isTooOld(serverVersion)) {
      throw new EventStoreUrlRefused(
        `is EventStoreDB ${serverVersion}; ${OLDEST.major}.${OLDEST.minor} or newer is required`,
      )
    }
    return serverVersion
  } catch (error) {
    const refused = refusedAccess(error, { connectionString, right: 'to ask for the version' })
    if (refused || error instanceof EventStoreUrlRefused) throw refused ?? error
    const where = `EVENT_STORE_URL: EventStoreDB does not answer at ${hostsOf(connectionString)}`
    throw new EventStoreUnavailable(new Error(`${where}: ${grpcMessageOf(error)}`, { cause: error }))
  } finally {
    await disconnect(client)
  }
}

/** Servers before 21.10 do not report a version. */
function isTooOld(version: string): boolean {
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(version) ?? []
  return Number(major) < OLDEST.major || (Number(major) === OLDEST.major && Number(minor) < OLDEST.minor)
}

/** The message of a gRPC error in one line. */
function grpcMessageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  if (/SSL routines|EPROTO/.test(text))
    return 'the TLS handshake failed; to connect without TLS, add ?tls=false'
  return text.replace(/\s+/g, ' ').replace(/\. ?Resolution note: $/, '')
}
