import { listSigningKeys, type SigningKeyRecord } from '@gantry/contracts'
import type { AddRoute } from '@gantry/service-runtime'
import type { FastifyInstance } from 'fastify'
import { publicJwk } from './key-material.ts'
import type { KeyState, SigningKeys } from './keys.ts'

/** Publishes key sets under /.well-known. Caches must revalidate, so that signatures of a new key can be verified at once. */
export function publishKeys(
  app: FastifyInstance,
  sets: Readonly<Record<string, () => Promise<{ keys: readonly object[] }>>>,
): void {
  for (const [file, keys] of Object.entries(sets))
    app.get(`/.well-known/${file}`, async (_request, reply) =>
      reply.header('cache-control', 'no-cache').send(await keys()),
    )
}

export function signingKeyRoutes(
  route: AddRoute,
  { login, audit }: { login: SigningKeys; audit: SigningKeys },
): void {
  route(listSigningKeys, async () => ({
    status: 200,
    body: [
      ...(await login.states()).map(key => recordOf(key, 'LOGIN')).reverse(),
      // A retired key of audit proofs verifies for ever: proofs are kept.
      ...(await audit.states())
        .map(key => ({ ...recordOf(key, 'AUDIT'), acceptedUntil: key.revokedAt }))
        .reverse(),
    ],
  }))
}

const recordOf = ({ x, ...key }: KeyState, purpose: SigningKeyRecord['purpose']): SigningKeyRecord => ({
  ...key,
  purpose,
  publicKey: publicJwk(x) as SigningKeyRecord['publicKey'],
})
