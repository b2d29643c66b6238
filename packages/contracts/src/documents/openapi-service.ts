import { z } from 'zod'
import type { ZodOpenApiPathsObject } from 'zod-openapi'
import { Timestamp } from '../operations/primitives.ts'
import { Problem } from '../operations/problems.ts'

const json = (schema: z.ZodType, example?: unknown) => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
})
const open = { tags: ['Service'], security: [], 'x-required-scope': 'public' }

const KeySet = z
  .looseObject({
    keys: z.array(
      z
        .looseObject({ kty: z.string(), kid: z.string(), alg: z.string().optional() })
        .meta({ id: 'Key', description: 'JSON Web Key (RFC 7517 §4)' }),
    ),
  })
  .meta({ id: 'KeySet', description: 'JSON Web Key Set (RFC 7517 §5)' })

const AuditKeySet = z
  .object({
    keys: z.array(
      z
        .looseObject({
          kid: z.string(),
          kty: z.string(),
          validFrom: Timestamp,
          validUntil: Timestamp.nullable(),
          revokedAt: Timestamp.nullable(),
        })
        .meta({ id: 'AuditKey', description: 'JSON Web Key (RFC 7517 §4) with its validity' }),
    ),
  })
  .meta({ id: 'AuditKeySet', description: 'JSON Web Key Set (RFC 7517 §5) with the validity of each key' })

const key = { kty: 'OKP', kid: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k' }
const validity = { validFrom: '2026-11-21T09:30:00.000Z', validUntil: null, revokedAt: null }

/** Body of /health/ready of a process that is ready. */
export const Ready = z
  .object({
    status: z.literal('ready'),
    time: Timestamp.meta({ description: 'Current time of the reference clock of all processes' }),
  })
  .meta({ id: 'Ready' })

const OpenApi = z.looseObject({ openapi: z.string() }).meta({ id: 'OpenApiDocument' })
const AsyncApi = z.looseObject({ asyncapi: z.string() }).meta({ id: 'AsyncApiDocument' })
const Live = z.object({ status: z.literal('live') }).meta({ id: 'Live' })

const problem = (description: string, headers: object = {}) => ({
  description,
  ...headers,
  content: { 'application/problem+json': { schema: Problem } },
})

/** A GET operation with one successful response. @param others its other responses, by status */
const get = (
  about: { operationId: string; summary: string; description?: string },
  success: { description: string; content: object },
  others: object = {},
) => ({
  get: {
    ...open,
    ...about,
    responses: { 200: success, ...others, default: { $ref: '#/components/responses/Problem' } },
  },
})

/** Paths for operators and clients that need no credentials; they are not part of the management interface. */
export const SERVICE_PATHS: ZodOpenApiPathsObject = {
  '/health/live': get(
    { operationId: 'getLiveness', summary: 'Check that the process is running' },
    {
      description: 'The process is running',
      content: json(Live, { status: 'live' }),
    },
  ),
  '/health/ready': get(
    { operationId: 'getReadiness', summary: 'Check whether the process can answer requests' },
    { description: 'Ready', content: json(Ready, { status: 'ready', time: '2026-11-21T10:00:00.000Z' }) },
    {
      503: problem('Not ready; detail names what the process waits for', {
        headers: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } },
      }),
    },
  ),
  '/metrics': get(
    { operationId: 'getMetrics', summary: 'Metrics in the text format of Prometheus' },
    {
      description: 'Metrics',
      content: { 'text/plain': { schema: z.string(), example: 'gantry_audit_chain_valid 1' } },
    },
    { 404: problem('Metrics are at METRICS_PORT') },
  ),
  '/openapi.json': get(
    { operationId: 'getOpenapi', summary: 'This document' },
    { description: 'An OpenAPI 3.1 document', content: json(OpenApi, { openapi: '3.1.0' }) },
  ),
  '/asyncapi.json': get(
    {
      operationId: 'getAsyncapi',
      summary: 'The events, for programs that receive them',
      description: 'Rendered at /docs/events.',
    },
    { description: 'An AsyncAPI 3.0 document', content: json(AsyncApi, { asyncapi: '3.0.0' }) },
  ),
  '/.well-known/jwks.json': get(
    { operationId: 'getJwks', summary: 'Keys that verify login tokens' },
    { description: 'The public keys', content: json(KeySet, { keys: [key] }) },
  ),
  '/.well-known/audit-keys.json': get(
    {
      operationId: 'getAuditKeys',
      summary: 'Keys that verify audit proofs',
      description:
        'All keys that ever were, with the time in which each signs. None of them is accepted for a login.',
    },
    { description: 'The public keys', content: json(AuditKeySet, { keys: [{ ...key, ...validity }] }) },
  ),
}
