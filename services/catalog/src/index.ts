export { catalogService } from './app.ts'
export { type CatalogSettings, catalogSettings } from './settings.ts'
