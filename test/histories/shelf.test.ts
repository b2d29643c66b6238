import { testHistories } from './src/histories.ts'
import { shelf } from './src/services/shelf.ts'

testHistories(shelf, 75)
