export { busContract, type OpenedBus } from './bus-contract.ts'
export { type InMemoryBroker, inMemoryBroker } from './in-memory-bus.ts'
