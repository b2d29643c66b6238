export { type CounterCommand, type CounterEvent, type CounterState, counterDecider } from './counter.ts'
export { story, storyMetadata } from './decider-story.ts'
export { eventStoreContract, type OpenedEventStore } from './event-store-contract.ts'
export { type InMemoryLog, inMemoryLog } from './in-memory-event-store.ts'
