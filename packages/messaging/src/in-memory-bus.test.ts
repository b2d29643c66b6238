import { busContract } from './testing/bus-contract.ts'
import { inMemoryBroker } from './testing/in-memory-bus.ts'

busContract('an in-memory bus', async () => {
  const broker = inMemoryBroker()
  return { connect: async () => broker.connect(), close: async () => {} }
})
