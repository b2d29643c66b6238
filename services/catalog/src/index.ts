export { apis } from './api/api.projection.ts'
export { catalogService } from './app.ts'
export { type CatalogSettings, catalogSettings } from './settings.ts'
