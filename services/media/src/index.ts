export { mediaService } from './app.ts'
export { digestInKey, ImageLost, imageBytes } from './image/image.bytes.ts'
export { referencedBytes } from './image/image.sweeper.ts'
export { mediaProcessSettings, mediaSettings } from './settings.ts'
