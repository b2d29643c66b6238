import { createHash } from 'node:crypto'
import { asyncApiPage, html } from '@gantry/markup'

export interface EventDocumentation {
  page: Buffer
  /** The Content-Security-Policy of the page: it loads nothing, and runs no scripts. */
  policy: string
}

/** Renders the AsyncAPI document as one page that loads nothing. @param basePath prefix of links to other pages */
export function eventDocumentation(document: object, basePath: string): EventDocumentation {
  const links = html`<a href="${basePath}/console/">Web console</a> <a href="${basePath}/docs">REST interface</a> <a href="${basePath}/asyncapi.json">AsyncAPI document</a> <a href="${basePath}/events/schemas">JSON Schemas</a>`
  const { title, body, style } = asyncApiPage(document, { subject: 'Gantry', links })
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${style}</style>
</head>
<body>
${body}
</body>
</html>
`
  const hash = createHash('sha256').update(style.markup).digest('base64')
  return {
    page: Buffer.from(page.markup),
    policy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  }
}
