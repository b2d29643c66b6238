import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import gossip from '@eventstore/db-client/generated/gossip_pb.js'
import names from '@eventstore/db-client/generated/shared_pb.js'
import { ChannelCredentials, Metadata } from '@grpc/grpc-js'

const ANSWER_MS = 1_000

/**
 * The port of the node that leads, as a node of EventStoreDB reports it.
 * @param ca PEM of the certificate authority of a node with TLS
 * @returns undefined while the node does not answer, or reports no leader that is alive
 */
export function leaderAccordingTo(port: number, ca?: string): Promise<number | undefined> {
  const credentials = ca ? ChannelCredentials.createSsl(Buffer.from(ca)) : ChannelCredentials.createInsecure()
  const client = new gossipService.GossipClient(`127.0.0.1:${port}`, credentials)
  const { promise, resolve } = Promise.withResolvers<number | undefined>()
  client.read(new names.Empty(), new Metadata(), { deadline: Date.now() + ANSWER_MS }, (error, cluster) => {
    const { LEADER } = gossip.MemberInfo.VNodeState
    const members = error ? [] : cluster.getMembersList()
    resolve(
      members
        .find(one => one.getState() === LEADER && one.getIsAlive())
        ?.getHttpEndPoint()
        ?.getPort(),
    )
  })
  return promise.finally(() => client.close())
}
