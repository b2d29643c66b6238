export { notifierService } from './app.ts'
export { checkRetention, type NotifierSettings, notifierSettings } from './settings.ts'
