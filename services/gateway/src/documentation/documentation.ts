import { hash } from 'node:crypto'
import { asyncApiDocument, openApiDocument } from '@gantry/contracts'
import { matchesNone } from '@gantry/service-runtime'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import packageJson from '../../package.json' with { type: 'json' }
import { eventDocumentation } from './event-documentation.ts'

const LOCAL = 'http://localhost:8080'

/**
 * Serves /openapi.json, and /asyncapi.json with a page at /docs/events that loads nothing. Without `publicUrl`, or
 * if that is on this machine, the page names the address that the request came to.
 * @param publicUrl the address of the service for its clients, if it is known
 */
export async function documentation(app: FastifyInstance, publicUrl: string | undefined): Promise<void> {
  const options = { basePath: app.prefix, version: packageJson.version }
  // Made at the first request, because they would delay the start.
  const asyncApi = once(() => {
    const document = asyncApiDocument({ ...options, publicUrl })
    return tagged(Buffer.from(JSON.stringify(document)))
  })
  const known = new URL(publicUrl ?? LOCAL)
  const isLocal = known.hostname === 'localhost'
  const events = once(() => {
    const document = asyncApiDocument({ ...options, publicUrl: publicUrl ?? LOCAL })
    return eventDocumentation(document, app.prefix)
  })
  const openApi = once(() => tagged(Buffer.from(JSON.stringify(openApiDocument(options)))))

  app.get('/openapi.json', async (request, reply) => sendDocument(request, reply, openApi()))
  app.get('/asyncapi.json', async (request, reply) => sendDocument(request, reply, asyncApi()))
  app.get('/docs/events', async ({ protocol, host }, reply) => {
    const { page, policy } = events()
    const requested = isLocal ? URL.parse(`${protocol}://${host}`) : undefined
    return reply
      .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy })
      .send(requested ? page.replaceAll(known.origin, requested.origin) : page)
  })
  app.get('/', async (_request, reply) => reply.redirect(`${app.prefix}/console/`))
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

/** Makes a value at the first call. */
function once<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => {
    made ??= make()
    return made
  }
}
