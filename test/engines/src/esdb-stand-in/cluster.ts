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

/** A node as the others see it. */
export interface Member {
  port: number
  state: 'leader' | 'follower' | 'unknown'
  alive: boolean
}

/** What a node knows of its cluster; nothing when it is alone. */
export type Members = () => readonly Member[] | undefined

const HOST = '127.0.0.1'

/** Tells the clients which nodes there are, and which of them leads. */
export function gossipOf(members: Members): UntypedServiceImplementation {
  const read: handleUnaryCall<names.Empty, gossip.ClusterInfo> = (_, reply) => {
    reply(null, new gossip.ClusterInfo().setMembersList((members() ?? []).map(messageOf)))
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
 * Refuses calls to streams while there is no leader, and those of callers that insist on the leader elsewhere. Any
 * other call a follower hands on to the leader, which here is to answer it.
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
