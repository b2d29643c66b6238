export { type CounterCommand, type CounterEvent, type CounterState, counterDecider } from './counter.ts'
export { story, storyMetadata } from './decider-story.ts'
export { eventStoreContract, type OpenedEventStore } from './event-store-contract.ts'
export {
  type FrozenCategory,
  type FrozenStreams,
  frozenStreams,
  testFrozenStreams,
} from './frozen-streams.ts'
export { type InMemoryLog, inMemoryLog, withoutProjector } from './in-memory-event-store.ts'
export { type RelayStores, relayContract } from './relay-contract.ts'
