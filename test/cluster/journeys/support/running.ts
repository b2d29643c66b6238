import { ranOn } from '@gantry/engines/ran-on'
import { afterAll, beforeAll } from 'vitest'
import { describedEngines } from '../../src/engines.ts'
import { type Receiver, receiveFrom } from './receiver.ts'
import { startTopology, type Topology, type TopologyOptions } from './topology.ts'

/** Event types of the receiver's webhook. */
const EVENTS = ['API_CREATED', 'API_UPDATED', 'API_DELETED', 'API_IMAGE_UPDATED']

/** Starts the topology and a receiver of API events before the tests of a file. Returns an accessor of both. */
export function runningTopology(options: TopologyOptions = {}): () => {
  topology: Topology
  receiver: Receiver
} {
  let topology: Topology
  let receiver: Receiver
  ranOn(() => describedEngines(topology.engines))
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
