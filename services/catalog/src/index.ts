export { apis } from './api/api.projection.ts'
export { catalogService } from './app.ts'
export { descriptions } from './search/descriptions.ts'
export { type CatalogSettings, catalogProcessSettings, catalogSettings } from './settings.ts'
