import { testHistories } from './src/histories.ts'
import { catalog } from './src/services/catalog.ts'

testHistories(catalog, 15)
