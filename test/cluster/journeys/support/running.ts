import { afterAll, beforeAll } from 'vitest'
import { type Receiver, receiveFrom } from './receiver.ts'
import { startTopology, type Topology, type TopologyOptions } from './topology.ts'

/** What APIs tell of themselves. */
const EVENTS = ['API_CREATED', 'API_UPDATED', 'API_DELETED', 'API_IMAGE_UPDATED']

/** Starts the topology, and a receiver of what happens to APIs, before the tests of a file; gives both to each test. */
export function runningTopology(options: TopologyOptions = {}): () => {
  topology: Topology
  receiver: Receiver
} {
  let topology: Topology
  let receiver: Receiver
  beforeAll(async () => {
    topology = await startTopology(options)
    receiver = await receiveFrom(topology, EVENTS)
  })
  afterAll(async () => {
    await topology.stop()
    await receiver.stop()
  })
  return () => ({ topology, receiver })
}
