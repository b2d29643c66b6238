export { eventStoreContract, type OpenedEventStore } from './event-store-contract.ts'
