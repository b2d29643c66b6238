export { buildPackage } from './build-package.ts'
export { OPERATIONS_FILE, operationsSource } from './operations-source.ts'
