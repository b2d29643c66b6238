export { type AsyncApiPage, asyncApiPage } from './asyncapi-page.ts'
export { type Html, html } from './html.ts'
