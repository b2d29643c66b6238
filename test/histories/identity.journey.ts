import { testHistories } from './src/histories.ts'
import { identity } from './src/services/identity.ts'

testHistories(identity, 40)
