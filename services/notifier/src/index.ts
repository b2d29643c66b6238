export { notifierService } from './app.ts'
export { type NotifierSettings, notifierProcessSettings, notifierSettings } from './settings.ts'
