export { notifierService } from './app.ts'
export type { Surroundings } from './dispatch/delivering.ts'
export { checkRetention, type NotifierSettings, notifierSettings } from './settings.ts'
