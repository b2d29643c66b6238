import { writeFileSync } from 'node:fs'
import { OPERATIONS_FILE, operationsSource } from './operations-source.ts'

writeFileSync(OPERATIONS_FILE, operationsSource())
