export { notifierService } from './app.ts'
export { type NotifierSettings, notifierSettings } from './settings.ts'
