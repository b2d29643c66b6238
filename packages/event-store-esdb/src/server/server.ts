import type { EventStoreDBClient } from '@eventstore/db-client'
import { type Appends, appendsOver } from './appends.ts'
import { connect, disconnect, isCluster, type Purpose } from './connection.ts'
import { NoResponse } from './errors.ts'
import { findOtherLeader, nodeOf } from './leader.ts'

/** A client, valid as long as its node is in use. */
export interface Connection {
  client: EventStoreDBClient
  /** Aborted when the process has left the node: requests over this client may never be answered. */
  left: AbortSignal
}

/** The connections of this process to one server or cluster, shared by all stores that use it. */
export interface Server extends Appends {
  reads(): Connection
  subscriptions(): Connection
  /** Runs a request and watches for its answer. When there is none, another node may lead. */
  asking<Result>(work: () => Promise<Result>): Promise<Result>
  /** Releases the connections; the last user closes them. */
  release(): Promise<void>
}

/** Duration without an answer after which the cluster is asked for its leader, repeatedly until there is an answer. */
const SILENT_MS = 2_000
const POLL_MS = 250

const open = new Map<string, { server: ReturnType<typeof openServer>; users: number }>()

/** @throws EventStoreUrlRefused */
export function serverOf(connectionString: string): Server {
  const entry = open.get(connectionString) ?? { server: openServer(connectionString), users: 0 }
  open.set(connectionString, entry)
  entry.users++
  return {
    ...entry.server,
    async release() {
      entry.users--
      if (entry.users > 0) return
      open.delete(connectionString)
      await entry.server.close()
    },
  }
}

/**
 * A frozen leader keeps its connections, and the client uses them until its keepalive gives up after 20 s, long after the
 * other nodes have elected a new leader. The other nodes are therefore asked for it as soon as answers are missing.
 */
function openServer(connectionString: string) {
  const reads = movable(connectionString, 'reads')
  const subscriptions = movable(connectionString, 'subscriptions')
  const appends = appendsOver(connectionString)
  let unanswered = 0
  let silentSince = Number.POSITIVE_INFINITY
  let moving = false
  let closed = false

  const asking = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    silentSince = Math.min(silentSince, performance.now())
    unanswered++
    const answered = () => {
      silentSince = unanswered > 0 ? performance.now() : Number.POSITIVE_INFINITY
    }
    try {
      const result = await work().finally(() => unanswered--)
      answered()
      return result
    } catch (error) {
      if (!(error instanceof NoResponse)) answered()
      throw error
    }
  }

  const moveToLeader = async () => {
    const clients = [appends.client(), reads.connection().client, subscriptions.connection().client]
    const used = await Promise.all(clients.map(client => nodeOf(client).catch(() => undefined)))
    const found = await findOtherLeader(connectionString, used)
    if (!found) return
    const { client, node } = found
    silentSince = Number.POSITIVE_INFINITY
    if (used[0] === node || closed) await disconnect(client)
    else await appends.moveTo(client)
    if (used[1] !== node) reads.leave()
    if (used[2] !== node) subscriptions.leave()
  }

  const moveIfSilent = () => {
    if (moving || performance.now() - silentSince < SILENT_MS) return
    moving = true
    void moveToLeader().finally(() => {
      moving = false
    })
  }
  const timer = isCluster(connectionString) ? setInterval(moveIfSilent, POLL_MS).unref() : undefined

  return {
    append: appends.append,
    asking,
    reads: reads.connection,
    subscriptions: subscriptions.connection,
    async close() {
      closed = true
      clearInterval(timer)
      await Promise.all([appends.dispose(), reads.close(), subscriptions.close()])
    },
  }
}

function movable(connectionString: string, purpose: Purpose) {
  let leaving = new AbortController()
  let client = connect(connectionString, purpose)
  return {
    connection: (): Connection => ({ client, left: leaving.signal }),
    /**
     * Fails the requests over the client with an error, and continues with another client. The client is not closed: it
     * would report a cancelled read as complete.
     */
    leave() {
      client = connect(connectionString, purpose)
      const left = leaving
      leaving = new AbortController()
      left.abort(new NoResponse('another node of the cluster leads'))
    },
    close: () => disconnect(client),
  }
}
