export { type Settings, settingsSchema } from './settings.ts'
export { type Standalone, startStandalone, type Told } from './standalone.ts'
