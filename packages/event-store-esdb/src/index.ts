export { checkEventStore } from './check.ts'
export { type EsdbEventStoreOptions, esdbEventStore } from './event-store.ts'
export { EventStoreUrlRefused } from './server/connection.ts'
