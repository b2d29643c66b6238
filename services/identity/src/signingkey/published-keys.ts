import type { FastifyInstance } from 'fastify'

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
