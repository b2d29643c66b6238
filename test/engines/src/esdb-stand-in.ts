import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import operationsService from '@eventstore/db-client/generated/operations_grpc_pb.js'
import operations from '@eventstore/db-client/generated/operations_pb.js'
import featuresService from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import features from '@eventstore/db-client/generated/serverfeatures_pb.js'
import streamsService from '@eventstore/db-client/generated/streams_grpc_pb.js'
import type protocol from '@eventstore/db-client/generated/streams_pb.js'
import {
  type handleUnaryCall,
  Server,
  ServerCredentials,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { type Access, accessOf, type User } from './esdb-stand-in/access.ts'
import { appendInBatches, appendInCall, deleteForEver, deleteSoftly } from './esdb-stand-in/appends.ts'
import { gossipOf, ledBy, type Members } from './esdb-stand-in/cluster.ts'
import { type Log, type LogOptions, openLog } from './esdb-stand-in/log.ts'
import { readAll, readStream } from './esdb-stand-in/reads.ts'
import { subscribeToAll, subscribeToStream } from './esdb-stand-in/subscriptions.ts'
import { nameOf, serviceError } from './esdb-stand-in/wire.ts'

export interface StandInOptions {
  /** File of the events; created if it does not exist. */
  path: string
  /** Default: 0, any free port. */
  port?: number
  host?: string
  /** The version that the server reports. An error that it throws is the response. */
  version?: () => string
  now?: () => Date
  arrived?: LogOptions['arrived']
  /** The users that may connect. Default: anyone. */
  users?: readonly User[]
  /** The nodes of its cluster, itself included; all use the same file. Default: a single node. */
  members?: Members
}

export interface StandIn {
  /** For EVENT_STORE_URL. */
  url: string
  port: number
  /** Closes every connection and the file. */
  stop(): Promise<void>
}

/** Concurrent streams per connection, as on the real server. */
const CONCURRENT_STREAMS = 100
const LARGEST_MESSAGE = 17 * 1_048_576

/**
 * A substitute server for tests without EventStoreDB: the service definitions of the client over the embedded event
 * store. The suites of this folder also run on the real server, see EVENT_STORE_COMMAND. It has users but no group except
 * $admins, no projections and no persistent subscriptions. A scavenge has ended when its call is answered. The
 * nodes of a cluster share one file and do not elect a leader: a test sets it.
 */
export async function startEsdbStandIn({
  path,
  port = 0,
  host = '127.0.0.1',
  version = () => '23.10.6 (stand-in)',
  now = () => new Date(),
  arrived,
  users,
  members = () => undefined,
}: StandInOptions): Promise<StandIn> {
  const log = openLog(path, { now, ...(arrived && { arrived }) })
  const access = accessOf(users)
  let bound = port
  const server = new Server({
    'grpc.max_concurrent_streams': CONCURRENT_STREAMS,
    'grpc.max_receive_message_length': LARGEST_MESSAGE,
    interceptors: [...access.interceptors, ledBy(members, () => bound)],
  })
  const streams: streamsService.IStreamsServer = {
    read: call => void answerRead(log, access, call),
    append: (call, reply) => void appendInCall(log, access, call, reply),
    batchAppend: call => appendInBatches(log, access, call, now),
    delete: (call, reply) => void deleteSoftly(log, access, call, reply),
    tombstone: (call, reply) => void deleteForEver(log, access, call, reply),
  }
  const serverFeatures: featuresService.IServerFeaturesServer = {
    getSupportedMethods(_call, reply) {
      try {
        reply(null, supported(version()))
      } catch (error) {
        reply(serviceError(error))
      }
    },
  }
  server.addService(streamsService.StreamsService, streams)
  server.addService(operationsService.OperationsService, operationsOf(log))
  server.addService(featuresService.ServerFeaturesService, serverFeatures)
  server.addService(
    gossipService.GossipService,
    gossipOf(members, () => bound),
  )
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  server.bindAsync(`${host}:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
    error ? reject(error) : resolve(bound),
  )
  bound = await promise.catch(async error => {
    await log.close()
    throw error
  })
  return {
    url: `esdb://${host}:${bound}?tls=false`,
    port: bound,
    async stop() {
      server.forceShutdown()
      await log.close()
    },
  }
}

function operationsOf(log: Log): UntypedServiceImplementation {
  const startScavenge: handleUnaryCall<operations.StartScavengeReq, operations.ScavengeResp> = (_, reply) => {
    const { STARTED } = operations.ScavengeResp.ScavengeResult
    log.scavenge().then(
      () => reply(null, new operations.ScavengeResp().setScavengeId(randomUUID()).setScavengeResult(STARTED)),
      error => reply(serviceError(error)),
    )
  }
  return { startScavenge }
}

async function answerRead(
  log: Log,
  access: Access,
  call: ServerWritableStream<protocol.ReadReq, protocol.ReadResp>,
): Promise<void> {
  const leaving = new AbortController()
  const { signal } = leaving
  call.on('cancelled', () => leaving.abort())
  call.on('close', () => leaving.abort())
  const send = async (message: protocol.ReadResp) => {
    signal.throwIfAborted()
    if (!call.write(message)) await once(call, 'drain', { signal })
  }
  try {
    const options = call.request.getOptions()
    if (!options) return
    const stream = nameOf(options.getStream()?.getStreamIdentifier())
    await access.check(call.metadata, log, options.hasAll() ? '$all' : stream, '$r')
    if (options.hasSubscription()) {
      const subscribe = options.hasAll() ? subscribeToAll : subscribeToStream
      await subscribe(log, options, send, signal)
    } else {
      await (options.hasAll() ? readAll : readStream)(log, options, send)
    }
    call.end()
  } catch (error) {
    if (!signal.aborted) call.emit('error', serviceError(error))
  }
}

function supported(version: string): features.SupportedMethods {
  const methods = new features.SupportedMethods().setEventStoreServerVersion(version)
  for (const method of ['read', 'append', 'delete', 'tombstone', 'batchappend']) {
    methods.addMethods(
      new features.SupportedMethod()
        .setMethodName(method)
        .setServiceName('event_store.client.streams.Streams'),
    )
  }
  return methods
}
