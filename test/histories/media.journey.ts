import { testHistories } from './src/histories.ts'
import { media } from './src/services/media.ts'

testHistories(media, 15)
