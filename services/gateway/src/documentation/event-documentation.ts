import { createHash } from 'node:crypto'
import { asyncApiPage, html } from '@gantry/markup'

export interface EventDocumentation {
  page: string
  /** The Content-Security-Policy of the page: it loads nothing, and runs no scripts. */
  policy: string
}

/** The symbol of the product, in the page, which loads nothing. */
const SYMBOL = html`<svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true"><rect width="32" height="32" rx="7" fill="#0b7285"/><path d="M5 10h22M9 10v15M23 10v15M16 10v7m-3 0h6v5h-6z" fill="none" stroke="#fff" stroke-width="2.5" stroke-linejoin="round" stroke-linecap="round"/></svg>`

/** Renders the AsyncAPI document as one page that loads nothing. @param basePath prefix of links to other pages */
export function eventDocumentation(document: object, basePath: string): EventDocumentation {
  const links = html`<a class="brand" href="${basePath}/console/">${SYMBOL} Gantry console</a> <a href="${basePath}/docs">REST interface</a> <a href="${basePath}/asyncapi.json">AsyncAPI</a> <a href="${basePath}/events/schemas">JSON Schemas</a>`
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
    page: page.markup,
    policy: `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  }
}
