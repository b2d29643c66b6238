export { mediaService } from './app.ts'
export { mediaSettings } from './settings.ts'
