export { checkEventStore } from './check.ts'
export { EventStoreUrlRefused } from './connection.ts'
export { type EsdbEventStoreOptions, esdbEventStore } from './event-store.ts'
