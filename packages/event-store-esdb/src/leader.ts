import { BACKWARDS, END, type EventStoreDBClient } from '@eventstore/db-client'
import { connect, disconnect } from './connection.ts'
import { within } from './errors.ts'
import { read } from './read.ts'

/** How long the nodes of a cluster may take to say which of them leads, and the leader to answer. */
const FOUND_MS = 3_000
const ANSWER_MS = 1_000
const NEVER_LEFT = new AbortController().signal

/** The node that a client uses, as host:port. */
export const nodeOf = async (client: EventStoreDBClient): Promise<string> =>
  // The client has no public way to tell.
  // biome-ignore lint/complexity/useLiteralKeys: only so may a protected member be used
  within(FOUND_MS, client['getChannel']()).then(channel => channel.getTarget())

/**
 * Asks a cluster which of its nodes leads now. @returns a client that uses that node, when it is not the only one that
 * is used already, and when it answers as the leader
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
      const page = read(client.readAll(last), { timeoutMs: ANSWER_MS, left: NEVER_LEFT })
      for await (const _ of page) break
      return { client, node }
    }
  } catch {
    // There is no leader yet, or it does not answer either.
  }
  await disconnect(client)
  return undefined
}
