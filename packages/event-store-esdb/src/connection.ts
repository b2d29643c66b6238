import { setTimeout } from 'node:timers/promises'
import { EventStoreDBClient } from '@eventstore/db-client'

/**
 * EVENT_STORE_URL is not one that this program can work with, or its user may not do what is needed. The message names
 * the setting and no password.
 */
export class EventStoreUrlRefused extends Error {
  constructor(reason: string) {
    super(`EVENT_STORE_URL ${reason}`)
    this.name = 'EventStoreUrlRefused'
  }
}

const FORM = /^esdb(\+discover)?:\/\/(?:(?<user>[^/@:]+):[^/@]*@)?(?<hosts>[^/?@]+)\/*(?:\?(?<options>.*))?$/s

/** How long a node may take to say which one leads before another one is asked; the client's own is 5 s. */
const GOSSIP_SECONDS = 1

const DISCONNECT_MS = 2_000

/** The client's own; less, it says, is too little. */
const KEEP_ALIVE_MS = 10_000
const GIVES_UP = `has to be ${KEEP_ALIVE_MS} or more: by it a frozen server is found out`

/** The options of the client, in lower case, and which of their values cannot be worked with. */
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
      value.toLowerCase() === 'leader' ? undefined : 'has to be leader: another node answers with the past',
  ],
  [
    'throwonappendfailure',
    value =>
      value === 'true' ? undefined : 'has to be true: otherwise the answer does not tell the actual revision',
  ],
  ['tlsverifycert', () => 'has no effect; give the authority as tlsCAFile'],
])

/** What a connection is for. */
export type Purpose = 'appends' | 'reads' | 'subscriptions'
const PURPOSES: Purpose[] = ['appends', 'reads', 'subscriptions']

/**
 * A client and a connection for every purpose: on one with about 100 open streams everything stalls, and a client
 * whose read fails closes its channel, with the appends that are under way on it.
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
  // gRPC has one connection for all clients of equal settings: these differ by a millisecond.
  const distinct = `keepAliveInterval=${keepAlive + PURPOSES.indexOf(purpose)}${gossip}`
  try {
    return EventStoreDBClient.connectionString(`${connectionString.trim()}${options ? '&' : '?'}${distinct}`)
  } catch (error) {
    throw new EventStoreUrlRefused(`cannot be used: ${withoutQuotation(error)}`)
  }
}

/** Ends what a client has under way; it waits for the ends of its streams, one of which may never come. */
export async function disconnect(client: EventStoreDBClient): Promise<void> {
  const late = new AbortController()
  await Promise.race([
    client.dispose(),
    setTimeout(DISCONNECT_MS, undefined, { signal: late.signal }).catch(() => {}),
  ])
  late.abort()
}

/** Whether it leads to nodes that say which of them leads. */
export const isCluster = (connectionString: string): boolean =>
  hostsOf(connectionString).includes(',') || connectionString.trim().startsWith('esdb+discover:')

/** The servers that it names, for messages. */
export const hostsOf = (connectionString: string): string => formOf(connectionString).hosts

/** The user that it names, for messages. */
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

/** What the client quotes of the string could be a password. */
const withoutQuotation = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).replace(
    /^Unexpected ".*" at/s,
    'unexpected text at',
  )
