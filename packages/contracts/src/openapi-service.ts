import { z } from 'zod'
import type { ZodOpenApiPathsObject } from 'zod-openapi'
import { Timestamp } from './primitives.ts'
import { Problem } from './problems.ts'

const json = (schema: z.ZodType, example?: unknown) => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
})
const open = { tags: ['Service'], security: [], 'x-required-scope': 'public' }

const KeySet = z
  .looseObject({
    keys: z.array(z.looseObject({ kty: z.string(), kid: z.string(), alg: z.string().optional() })),
  })
  .meta({ id: 'KeySet', description: 'JSON Web Key Set (RFC 7517 §5)' })

/** The answer of a process that can answer requests. */
export const Ready = z.object({
  status: z.literal('ready'),
  time: Timestamp.meta({ description: 'What time it is by the clock that all processes go by' }),
})

/** What the service says of itself; not part of the management interface, so open to anyone. */
export const SERVICE_PATHS: ZodOpenApiPathsObject = {
  '/health/live': {
    get: {
      ...open,
      operationId: 'live',
      summary: 'Tell that the process runs',
      responses: {
        200: {
          description: 'It does',
          content: json(z.object({ status: z.literal('live') }), { status: 'live' }),
        },
      },
    },
  },
  '/health/ready': {
    get: {
      ...open,
      operationId: 'ready',
      summary: 'Tell whether requests can be answered',
      responses: {
        200: {
          description: 'They can',
          content: json(Ready, { status: 'ready', time: '2026-11-21T10:00:00.000Z' }),
        },
        503: {
          description: 'Not yet',
          headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } },
          content: { 'application/problem+json': { schema: Problem } },
        },
      },
    },
  },
  '/metrics': {
    get: {
      ...open,
      operationId: 'metrics',
      summary: 'Metrics in the text format of Prometheus',
      responses: {
        200: { description: 'Metrics', content: { 'text/plain': { schema: z.string() } } },
        404: {
          description: 'They are at METRICS_PORT',
          content: { 'application/problem+json': { schema: Problem } },
        },
      },
    },
  },
  '/openapi.json': {
    get: {
      ...open,
      operationId: 'openapi',
      summary: 'This document',
      responses: {
        200: {
          description: 'An OpenAPI 3.1 document',
          content: json(z.looseObject({ openapi: z.string() })),
        },
      },
    },
  },
  '/.well-known/jwks.json': {
    get: {
      ...open,
      operationId: 'jwks',
      summary: 'Keys that verify login tokens',
      responses: { 200: { description: 'The public keys', content: json(KeySet) } },
    },
  },
}
