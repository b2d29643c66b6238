export { story, storyMetadata } from './decider-story.ts'
export { eventStoreContract, type OpenedEventStore } from './event-store-contract.ts'
