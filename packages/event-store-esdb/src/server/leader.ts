import { BACKWARDS, END, type EventStoreDBClient } from '@eventstore/db-client'
import { connect, disconnect } from './connection.ts'
import { within } from './errors.ts'
import { read } from './read.ts'

/** How long the nodes of a cluster may take to name the leader, and how long the leader may take to respond. */
const FOUND_MS = 3_000
const RESPONSE_MS = 1_000
const NEVER_LEFT = new AbortController().signal

/** The node that a client uses, as host:port. */
export const nodeOf = async (client: EventStoreDBClient): Promise<string> =>
  // The client has no public API for this.
  // biome-ignore lint/complexity/useLiteralKeys: access to a protected member needs this form
  within(FOUND_MS, client['getChannel']()).then(channel => channel.getTarget())

/**
 * Asks a cluster for its leader.
 * @returns a client that uses the leader, if the leader answers and is not the only node in use already
 */
export async function findOtherLeader(
  connectionString: string,
  used: (string | undefined)[],
): Promise<{ client: EventStoreDBClient; node: string } | undefined> {
  const client = connect(connectionString, 'appends')
  try {
    const node = await nodeOf(client)
    if (used.some(other => other !== node)) {
      const last = { direction: BACKWARDS, fromPosition: END, maxCount: 1, requiresLeader: true } as const
      const page = read(client.readAll(last), { timeoutMs: RESPONSE_MS, left: NEVER_LEFT })
      for await (const _ of page) break
      return { client, node }
    }
  } catch {
    // There is no leader yet, or it does not answer.
  }
  await disconnect(client)
  return undefined
}
