export { inlineChecker } from './inline-checker.ts'
export { samples } from './sample-documents.ts'
