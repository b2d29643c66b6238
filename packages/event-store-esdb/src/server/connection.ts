import { EventStoreDBClient } from '@eventstore/db-client'
import { inTime } from '@gantry/pacing'

/** EVENT_STORE_URL is invalid, or its user lacks permissions. The message names the setting but no password. */
export class EventStoreUrlRefused extends Error {
  constructor(reason: string) {
    super(`EVENT_STORE_URL ${reason}`)
    this.name = 'EventStoreUrlRefused'
  }
}

const FORM = /^esdb(\+discover)?:\/\/(?:(?<user>[^/@:]+):[^/@]*@)?(?<hosts>[^/?@]+)\/*(?:\?(?<options>.*))?$/s

/** How long a node may take to name the leader before another one is asked. The client's default is 5 s. */
const GOSSIP_SECONDS = 1

const DISCONNECT_MS = 2_000

/** The client's default, which is also the minimum that it accepts without a warning. */
const KEEP_ALIVE_MS = 10_000
const GIVES_UP = `has to be ${KEEP_ALIVE_MS} or more: keepalives detect a frozen server`

/** The options of the client in lower case, each with a function that returns why a value is not supported. */
const OPTIONS = new Map<string, (value: string) => string | undefined>([
  ...[
    'connectionname',
    'defaultdeadline',
    'discoveryinterval',
    'gossiptimeout',
    'maxdiscoverattempts',
    'tls',
    'tlscafile',
    'usercertfile',
    'userkeyfile',
  ].map(name => [name, () => undefined] as const),
  ...['keepaliveinterval', 'keepalivetimeout'].map(
    name => [name, (value: string) => (Number(value) >= KEEP_ALIVE_MS ? undefined : GIVES_UP)] as const,
  ),
  [
    'nodepreference',
    value =>
      value.toLowerCase() === 'leader' ? undefined : 'has to be leader: other nodes may return stale data',
  ],
  [
    'throwonappendfailure',
    value =>
      value === 'true' ? undefined : 'has to be true: otherwise the answer lacks the actual revision',
  ],
  ['tlsverifycert', () => 'has no effect; set the certificate authority with tlsCAFile'],
])

export type Purpose = 'appends' | 'reads' | 'subscriptions'
const PURPOSES: Purpose[] = ['appends', 'reads', 'subscriptions']

/**
 * Creates a client with a separate connection per purpose. A connection with about 100 open streams stalls, and a client
 * whose read fails closes its channel, which ends the appends in progress on it.
 * @throws EventStoreUrlRefused
 */
export function connect(connectionString: string, purpose: Purpose): EventStoreDBClient {
  const { options = '' } = formOf(connectionString)
  let keepAlive = KEEP_ALIVE_MS
  let gossip = isCluster(connectionString) ? `&gossipTimeout=${GOSSIP_SECONDS}` : ''
  for (const option of options.split('&').filter(Boolean)) {
    const [name = '', value = ''] = option.split('=')
    const key = name.toLowerCase().replace(/[_-]/g, '')
    const problem = OPTIONS.get(key)
    if (!problem) throw new EventStoreUrlRefused(`has an unknown option ${name}`)
    const reason = problem(value)
    if (reason) throw new EventStoreUrlRefused(`has the option ${name}, which ${reason}`)
    if (key === 'gossiptimeout') gossip = ''
    if (key === 'keepaliveinterval') keepAlive = Number(value)
  }
  // gRPC shares a connection between clients of equal settings. A difference of a millisecond separates them.
  const distinct = `keepAliveInterval=${keepAlive + PURPOSES.indexOf(purpose)}${gossip}`
  try {
    return EventStoreDBClient.connectionString(`${connectionString.trim()}${options ? '&' : '?'}${distinct}`)
  } catch (error) {
    throw new EventStoreUrlRefused(`cannot be used: ${withoutQuotation(error)}`)
  }
}

/** Ends the calls of a client. It waits for the ends of their streams, at most two seconds, because one may never come. */
export const disconnect = (client: EventStoreDBClient): Promise<void> =>
  inTime(client.dispose(), DISCONNECT_MS)

/** Whether the URL is that of a cluster, whose nodes name their leader. */
export const isCluster = (connectionString: string): boolean =>
  hostsOf(connectionString).includes(',') || connectionString.trim().startsWith('esdb+discover:')

/** The servers of the URL, for messages. */
export const hostsOf = (connectionString: string): string => formOf(connectionString).hosts

/** The user of the URL, for messages. */
export const userOf = (connectionString: string): string | undefined => formOf(connectionString).user

function formOf(connectionString: string): { hosts: string; user?: string; options?: string } {
  const { hosts, user, options } = FORM.exec(connectionString.trim())?.groups ?? {}
  if (!hosts) {
    throw new EventStoreUrlRefused(
      'is not of the form esdb://host:2113?tls=false or esdb://user:password@host:2113',
    )
  }
  return { hosts, ...(user && { user }), ...(options && { options }) }
}

/** Removes the client's quotation of the URL, which could contain a password. */
const withoutQuotation = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).replace(
    /^Unexpected ".*" at/s,
    'unexpected text at',
  )
