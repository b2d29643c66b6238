import httpProxy from '@fastify/http-proxy'
import Fastify from 'fastify'

/** Baseline for the gateway: a bare Fastify that forwards all requests to UPSTREAM. */
const { PORT, UPSTREAM } = process.env
const app = Fastify()
await app.register(httpProxy, { upstream: UPSTREAM ?? '' })
await app.listen({ port: Number(PORT), host: '127.0.0.1' })
process.on('SIGTERM', () => process.exit(0))
