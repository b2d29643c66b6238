export { sqliteBus } from './bus.ts'
export { sqliteEventStore } from './event-store.ts'
export { sqliteReadModels } from './read-models.ts'
export { DataFolderRefused } from './sqlite-file.ts'
