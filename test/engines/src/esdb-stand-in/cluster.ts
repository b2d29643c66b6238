import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import names from '@eventstore/db-client/generated/shared_pb.js'
import {
  type handleUnaryCall,
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptor,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import { NotLeader, NotReady, serviceError } from './wire.ts'

/** A node as the other nodes see it. */
export interface Member {
  port: number
  state: 'leader' | 'follower' | 'unknown'
  alive: boolean
}

/** Returns what a node knows of its cluster; undefined for a single node. */
export type Members = () => readonly Member[] | undefined

const HOST = '127.0.0.1'

/** Tells clients the nodes of the cluster and their leader. A single node leads. */
export function gossipOf(members: Members, port: () => number): UntypedServiceImplementation {
  const read: handleUnaryCall<names.Empty, gossip.ClusterInfo> = (_, reply) => {
    const known = members() ?? [{ port: port(), state: 'leader', alive: true }]
    reply(null, new gossip.ClusterInfo().setMembersList(known.map(messageOf)))
  }
  return { read }
}

function messageOf({ port, state, alive }: Member): gossip.MemberInfo {
  const { LEADER, FOLLOWER, UNKNOWN } = gossip.MemberInfo.VNodeState
  return new gossip.MemberInfo()
    .setInstanceId(new names.UUID().setString(`00000000-0000-4000-8000-${String(port).padStart(12, '0')}`))
    .setTimeStamp(String(Date.now() * 10_000))
    .setState({ leader: LEADER, follower: FOLLOWER, unknown: UNKNOWN }[state])
    .setIsAlive(alive)
    .setHttpEndPoint(new gossip.EndPoint().setAddress(HOST).setPort(port))
}

/**
 * Refuses calls to streams while there is no leader. Refuses calls on a follower that require the leader. A follower of the
 * real server forwards all other calls to the leader; here it answers them.
 */
export const ledBy =
  (members: Members, port: () => number): ServerInterceptor =>
  ({ path }, call) =>
    new ServerInterceptingCall(call, {
      start: next =>
        next({
          onReceiveMetadata(metadata, goOn) {
            const refusal = path.includes('.streams.') ? refusalOf(metadata, members(), port()) : undefined
            if (refusal) call.sendStatus(serviceError(refusal))
            else goOn(metadata)
          },
        }),
    })

function refusalOf(caller: Metadata, members: ReturnType<Members>, port: number): Error | undefined {
  if (!members) return undefined
  const leader = members.find(({ state }) => state === 'leader')
  if (!leader) return new NotReady()
  const isElsewhere = leader.port !== port && caller.get('requires-leader')[0] === 'true'
  return isElsewhere ? new NotLeader(HOST, leader.port) : undefined
}
