export { inlineChecker } from './inline-checker.ts'
export { largeOpenApi, samples } from './sample-documents.ts'
