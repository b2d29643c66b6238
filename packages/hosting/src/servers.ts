import { httpServer, type ServerOptions } from '@gantry/service-kit'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'

/** Where a process listens. */
export interface Port {
  setting: 'PORT' | 'INTERNAL_PORT' | 'METRICS_PORT'
  port: number
  host: string
}

/** What the servers of a process add to themselves, under the base path. */
export interface Routes {
  routes: FastifyPluginAsync
  /** At INTERNAL_PORT. */
  inside?: FastifyPluginAsync | undefined
}

export interface Servers {
  /** Resolves when both listen. @throws Error that says which setting is wrong */
  listen(routes: Routes): Promise<void>
  close(): Promise<void>
}

/**
 * The server of a process at PORT, and a second one with /metrics and internal requests, where the process has a port for
 * these. Callers learn from the health check where that is.
 */
export function processServers(options: ServerOptions, port: Port, second: Port | undefined): Servers {
  const prefix = options.basePath
  if (!second) {
    const app = httpServer(options)
    return {
      async listen({ routes }) {
        await app.register(routes, { prefix })
        await listen(app, port)
      },
      close: () => app.close(),
    }
  }
  const { connections: _, ...unlimited } = options
  const inner = httpServer({ ...unlimited, answers: ['metrics'] })
  const listensAt = () => (inner.server.address() as { port: number } | null)?.port
  const app = httpServer({
    ...options,
    answers: ['health'],
    ...(second.setting === 'INTERNAL_PORT' && { internalPort: listensAt }),
  })
  return {
    async listen({ routes, inside }) {
      await app.register(routes, { prefix })
      if (inside) await inner.register(inside, { prefix })
      // First, so that it answers where the health check says.
      await listen(inner, second)
      await listen(app, port)
    },
    async close() {
      await Promise.all([app.close(), inner.close()])
    },
  }
}

/** @throws Error in words for the operator */
async function listen(app: FastifyInstance, { setting, port, host }: Port): Promise<void> {
  try {
    await app.listen({ port, host })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new Error(`${setting} ${port} is taken`, { cause: error })
    if (code === 'EACCES')
      throw new Error(`${setting} ${port} may not be used by this user`, { cause: error })
    if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
      throw new Error(`HOST ${host} is no address of this machine`, { cause: error })
    throw error
  }
}
