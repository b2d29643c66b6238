import { hash } from 'node:crypto'
import helmet from '@fastify/helmet'
import swagger, { type StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { asyncApiDocument, openApiDocument } from '@gantry/contracts'
import { matchesNone } from '@gantry/service-runtime'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import packageJson from '../../package.json' with { type: 'json' }
import { eventDocumentation } from './event-documentation.ts'

/** The page may load from this origin only. Swagger UI uses inline styles and images in data URLs. */
const PAGE_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
}

/**
 * Serves /openapi.json with Swagger UI at /docs, and /asyncapi.json with a page at /docs/events. The pages load nothing
 * from other origins.
 * @param publicUrl the address of the service for its clients, if it is known
 */
export async function documentation(app: FastifyInstance, publicUrl: string | undefined): Promise<void> {
  // Made at the first request, because they would delay the start.
  const asyncApi = once(() => {
    const options = { publicUrl, basePath: app.prefix, version: packageJson.version }
    const document = asyncApiDocument(options)
    return { document, ...tagged(Buffer.from(JSON.stringify(document))) }
  })
  const events = once(() => eventDocumentation(asyncApi().document, app.prefix))
  const document = openApiDocument({ basePath: app.prefix, version: packageJson.version })
  const body = Buffer.from(JSON.stringify(document))
  const openApi = once(() => tagged(body))

  app.get('/openapi.json', async (request, reply) => sendDocument(request, reply, openApi()))
  app.get('/asyncapi.json', async (request, reply) => sendDocument(request, reply, asyncApi()))
  app.get('/docs/events', async (_request, reply) => {
    const { page, policy } = events()
    return reply
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
      .send(page)
  })
  app.get('/', async (_request, reply) => reply.redirect(`${app.prefix}/docs`))

  await app.register(async docs => {
    // HSTS is left to the proxy that terminates TLS.
    await docs.register(helmet, { contentSecurityPolicy: false, strictTransportSecurity: false })
    await docs.register(swagger, { mode: 'static', specification: { document } as StaticDocumentSpec })
    const yaml = once(() => Buffer.from(docs.swagger({ yaml: true }) as string))
    await docs.register(swaggerUi, {
      uiHooks: {
        // Responses share these buffers. The routes of Swagger UI would serialise the document for each.
        preHandler({ routeOptions: { url } }, reply, done) {
          if (url?.endsWith('/docs/yaml')) reply.type('application/x-yaml').send(yaml())
          else if (url?.endsWith('/docs/json')) reply.type('application/json; charset=utf-8').send(body)
          else done()
        },
      },
      routePrefix: '/docs',
      indexPrefix: app.prefix,
      staticCSP: PAGE_POLICY,
      theme: { title: 'Gantry' },
      uiConfig: {
        layout: 'BaseLayout',
        // Groups and schemas are folded: the page builds what is open.
        docExpansion: 'none',
        defaultModelsExpandDepth: 0,
        displayRequestDuration: true,
        tryItOutEnabled: true,
        plugins: [ownPlugin],
      },
    })
  })
}

interface Tagged {
  body: Buffer
  /** Strong entity tag: the hash of the body. */
  tag: string
}

const tagged = (body: Buffer): Tagged => ({
  body,
  tag: `"${hash('sha256', body, 'base64url').slice(0, 22)}"`,
})

function sendDocument(request: FastifyRequest, reply: FastifyReply, { body, tag }: Tagged): FastifyReply {
  reply.headers({ etag: tag, 'cache-control': 'no-cache' })
  if (matchesNone(request.headers['if-none-match'], tag)) return reply.code(304).send()
  return reply.header('content-type', 'application/json; charset=utf-8').send(body)
}

/** What the plugin uses of Swagger UI. */
interface Page {
  preauthorizeApiKey(scheme: string, token: string): void
  specActions: { updateJsonSpec(document: object): unknown }
}

/**
 * A plugin of Swagger UI, which runs in the page. The credential of requests is the session of the console in the
 * same tab, then the token in an answer, e.g. of POST /login. The document is parsed as JSON: as YAML, it takes seconds.
 */
function ownPlugin(page: Page) {
  type Answer = { headers?: Record<string, string> }
  type SetResponse = (path: string, method: string, answer: Answer) => unknown
  const setResponse =
    (set: SetResponse): SetResponse =>
    (path, method, answer) => {
      const [, token] = /^Bearer (.+)$/.exec(answer.headers?.authorization ?? '') ?? []
      if (token) page.preauthorizeApiKey('bearer', token)
      return set(path, method, answer)
    }
  const parseToJson = () => (text: string) => {
    page.specActions.updateJsonSpec(JSON.parse(text))
    const session = sessionStorage.getItem('gantry.session')
    if (session) page.preauthorizeApiKey('bearer', JSON.parse(session).token)
  }
  return { statePlugins: { spec: { wrapActions: { setResponse, parseToJson } } } }
}

/** Makes a value at the first call. */
function once<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => {
    made ??= make()
    return made
  }
}
