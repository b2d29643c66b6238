export { DOCUMENTS_PACKAGE, type DocumentsSent, documentsIn, sendDocuments } from './documents.ts'
export { draw } from './drawing.ts'
export { type Filled, fill } from './fill.ts'
export { type PublicApi, readPublicApis } from './public-apis.ts'
