import helmet from '@fastify/helmet'
import swagger, { type StaticDocumentSpec } from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import { openApiDocument } from '@gantry/contracts'
import type { FastifyInstance } from 'fastify'
import packageJson from '../package.json' with { type: 'json' }

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

/** Serves /openapi.json, and Swagger UI at /docs. The page loads nothing from other origins. */
export async function documentation(app: FastifyInstance): Promise<void> {
  const document = openApiDocument({ basePath: app.prefix, version: packageJson.version })
  const body = Buffer.from(JSON.stringify(document))

  app.get('/openapi.json', async (_request, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(body),
  )
  app.get('/', async (_request, reply) => reply.redirect(`${app.prefix}/docs`))

  await app.register(async docs => {
    // HSTS is left to the proxy that terminates TLS.
    await docs.register(helmet, { contentSecurityPolicy: false, strictTransportSecurity: false })
    await docs.register(swagger, { mode: 'static', specification: { document } as StaticDocumentSpec })
    await docs.register(swaggerUi, {
      routePrefix: '/docs',
      indexPrefix: app.prefix,
      staticCSP: PAGE_POLICY,
      theme: { title: 'Gantry' },
      uiConfig: {
        layout: 'BaseLayout',
        docExpansion: 'none',
        displayRequestDuration: true,
        tryItOutEnabled: true,
      },
    })
  })
}
