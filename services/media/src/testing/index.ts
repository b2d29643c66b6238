export { inlineChecker, inlineLinting } from './inline-checker.ts'
export { largeOpenApi, samples } from './sample-documents.ts'
