export { notifierService, type Surroundings } from './app.ts'
export { type NotifierSettings, notifierSettings } from './settings.ts'
