export { mediaService } from './app.ts'
export { BytesLost, digestInKey, storedBytes } from './bytes/bytes.ts'
export { type DocumentSettings, documentSettings, mediaProcessSettings, mediaSettings } from './settings.ts'
export { referencedBytes } from './sweeper.ts'
