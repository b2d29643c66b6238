import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import staticFiles from '@fastify/static'
import { invalidField, Refusal } from '@gantry/contracts'
import { html } from '@gantry/markup'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

/** Where `services/console/src/build.ts` puts builds. */
const BUILDS = join(import.meta.dirname, '../../../.cache/console')

/**
 * Mantine and the virtualised lists set inline styles. The images of APIs are shown from blob: URLs, because their requests
 * carry a token.
 */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' blob: data:",
  "object-src 'none'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
}
/**
 * Documents of APIs are shown in frames with an origin of their own, which cannot read the session of the console. Their
 * scripts are those of the service, and they load nothing. Scalar and Mantine set inline styles.
 */
const FRAME_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  'sandbox allow-scripts',
]
/** The reference of the REST interface sends requests to this origin only. Scalar sets inline styles. */
const REFERENCE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')
/** A host name or an address, with an optional port. Other characters of a URL would change the policy. */
const ORIGIN = /^https?:\/\/(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/
/** The names of assets contain a digest of their content. */
const YEAR_MS = 365 * 24 * 60 * 60 * 1_000
const REFRESH_S = 2

/**
 * Serves the web console at /console, and the reference of the REST interface at /docs. Paths of the console, such as
 * /console/apis, are answered with its page. Until both are built a page says so: with 503 at /console, and at /docs with
 * 200, because its link to the OpenAPI document can be used.
 * @param builds folder of the builds; its file `current` names the served one
 */
export async function webConsole(app: FastifyInstance, builds = BUILDS): Promise<void> {
  const root = `${app.prefix}/console/`
  const page = async (_request: FastifyRequest, reply: FastifyReply) => {
    const text = pageOf(builds, 'index.html')
    reply.headers(PAGE_HEADERS)
    if (text === undefined)
      return reply.code(503).header('retry-after', String(REFRESH_S)).send(building(app.prefix).markup)
    // Relative URLs of the page start at the console, whatever path it is opened with.
    return reply.send(text.replace('<head>', `<head><base href="${root}">`))
  }
  const frame = (name: string, sources: string, reply: FastifyReply) => {
    const text = pageOf(builds, `frames/${name}.html`)
    if (text === undefined) throw new Refusal('not-found')
    const policy = [...FRAME_POLICY, `connect-src ${sources}`].join('; ')
    // Links of documents are not looked up before they are followed.
    const headers = { 'content-security-policy': policy, 'x-dns-prefetch-control': 'off' }
    return reply.headers({ ...PAGE_HEADERS, ...headers }).send(text)
  }
  const reference = async (_request: FastifyRequest, reply: FastifyReply) => {
    const text = pageOf(builds, 'docs/docs.html')
    reply.headers({ ...PAGE_HEADERS, 'content-security-policy': REFERENCE_POLICY })
    const placed = text
      ?.replaceAll('="../assets/', `="${root}assets/`)
      .replaceAll('="../', `="${app.prefix}/`)
    return reply.send(placed ?? building(app.prefix).markup)
  }
  await app.register(async scope => {
    // Without a root, because the folder does not exist before the first build.
    await scope.register(staticFiles, { serve: false, preCompressed: true })
    scope.get('/console', page)
    scope.get('/console/*', page)
    scope.get('/docs', reference)
    scope.get('/console/frames/document', async (_request, reply) => frame('document', "'none'", reply))
    // Sends one request of a document to the host that the person has confirmed.
    scope.get('/console/frames/sender', async (request, reply) => {
      const { to } = request.query as { to?: unknown }
      if (typeof to !== 'string' || !ORIGIN.test(to) || !URL.canParse(to))
        throw invalidField('to', 'must be a scheme, a host and an optional port')
      return frame('sender', to, reply)
    })
    scope.get('/console/assets/*', async (request, reply) => {
      const { '*': file } = request.params as { '*': string }
      const build = currentBuild(builds)
      // A name with other characters is not one that Vite has chosen.
      if (!build || !/^[\w-]+(\.[\w-]+)+$/.test(file)) throw new Refusal('not-found')
      // The scripts of frames are modules, which an origin of its own may load only if that is allowed.
      reply.header('access-control-allow-origin', '*')
      return reply.sendFile(file, join(builds, build, 'assets'), { maxAge: YEAR_MS, immutable: true })
    })
  })
}

function currentBuild(builds: string): string | undefined {
  try {
    return readFileSync(join(builds, 'current'), 'utf8')
  } catch {
    return undefined
  }
}

function pageOf(builds: string, file: string): string | undefined {
  const build = currentBuild(builds)
  if (build === undefined) return undefined
  try {
    return readFileSync(join(builds, build, file), 'utf8')
  } catch {
    return undefined
  }
}

const building = (prefix: string) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="refresh" content="${REFRESH_S}">
<title>Gantry</title>
<style>body { font: 16px/1.5 system-ui, sans-serif; margin: 20vh auto; max-width: 32rem; padding: 0 1rem; color-scheme: light dark }</style>
</head>
<body>
<main>
<h1>Gantry</h1>
<p role="status">The web console and the documentation are being built. This takes some seconds after the first start. This page opens them as soon as they are ready.</p>
<p>If this page stays, build them with <code>npm run console</code>. The <a href="${prefix}/openapi.json">OpenAPI document</a> is served already.</p>
</main>
</body>
</html>
`
