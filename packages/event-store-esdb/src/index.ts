export { checkEventStore } from './check.ts'
export { esdbEventStore } from './event-store.ts'
export { EventStoreUrlRefused } from './server/connection.ts'
