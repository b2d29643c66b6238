export { notifierService, type Surroundings } from './app.ts'
export { checkRetention, type NotifierSettings, notifierSettings } from './settings.ts'
