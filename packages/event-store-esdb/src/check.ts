import { EventStoreUnavailable } from '@gantry/event-sourcing'
import { connect, disconnect, EventStoreUrlRefused, hostsOf } from './connection.ts'
import { refusedAccess, within } from './errors.ts'
import { TIMEOUT_MS } from './event-store.ts'

/** The first that tells a subscription when it has caught up. */
const OLDEST = { major: 23, minor: 10 }

/**
 * Asks the server who it is: call it before a service counts as ready, and again with backoff while it throws.
 * @returns its version, e.g. 23.10.6
 * @throws EventStoreUrlRefused when the setting cannot work, its user is refused, or the server is too old
 * @throws EventStoreUnavailable when nobody answers; the message names the setting and the host
 */
export async function checkEventStore(connectionString: string, timeoutMs = TIMEOUT_MS): Promise<string> {
  const client = connect(connectionString, 'reads')
  try {
    // The client's own way to learn what the server can do; it has no public one.
    // biome-ignore lint/complexity/useLiteralKeys: only so may a protected member be used
    const { serverVersion } = await within(timeoutMs, client['capabilities'])
    if (isTooOld(serverVersion)) {
      throw new EventStoreUrlRefused(
        `leads to EventStoreDB ${serverVersion}; it has to be ${OLDEST.major}.${OLDEST.minor} or newer`,
      )
    }
    return serverVersion
  } catch (error) {
    const refused = refusedAccess(error, { connectionString, right: 'to ask for the version' })
    if (refused || error instanceof EventStoreUrlRefused) throw refused ?? error
    const where = `EVENT_STORE_URL: EventStoreDB does not answer at ${hostsOf(connectionString)}`
    throw new EventStoreUnavailable(new Error(`${where}: ${reasonOf(error)}`, { cause: error }))
  } finally {
    await disconnect(client)
  }
}

/** A server before 21.10 cannot even tell its version. */
function isTooOld(version: string): boolean {
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(version) ?? []
  return Number(major) < OLDEST.major || (Number(major) === OLDEST.major && Number(minor) < OLDEST.minor)
}

/** What gRPC says of a connection, in a line. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  if (/SSL routines|EPROTO/.test(text))
    return 'it does not speak TLS as is asked of it; without TLS add ?tls=false'
  return text.replace(/\s+/g, ' ').replace(/\. ?Resolution note: $/, '')
}
