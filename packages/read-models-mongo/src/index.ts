export { type GridFsBlobStoreOptions, gridFsBlobStore } from './blobs.ts'
export { checkReadModels } from './check.ts'
export { type MongoReadModelsOptions, mongoReadModels } from './read-models.ts'
export { type MongoOptions, MongoRefused } from './settings.ts'
