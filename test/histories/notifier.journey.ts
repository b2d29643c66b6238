import { testHistories } from './src/histories.ts'
import { notifier } from './src/services/notifier.ts'

testHistories(notifier, 15)
