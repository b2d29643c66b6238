import { httpServer, type ServerOptions } from '@gantry/service-kit'
import type { FastifyInstance, FastifyPluginAsync } from 'fastify'

/** Address that a process listens on. */
export interface Port {
  setting: 'PORT' | 'INTERNAL_PORT' | 'METRICS_PORT'
  port: number
  host: string
}

/** The routes of the servers of a process, under the base path. */
interface Routes {
  routes: FastifyPluginAsync
  /** Routes of the server at INTERNAL_PORT. */
  inside?: FastifyPluginAsync | undefined
}

export interface Servers {
  /** Resolves when all servers listen. @throws Error that names the wrong setting */
  listen(routes: Routes): Promise<void>
  close(): Promise<void>
}

/**
 * The server of a process at PORT, and a second one with /metrics and internal requests if the process has a port for them.
 * The health check names the port for internal requests.
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
      // The second server listens first, so that the port that the health check names already answers.
      await listen(inner, second)
      await listen(app, port)
    },
    async close() {
      await Promise.all([app.close(), inner.close()])
    },
  }
}

/** @throws Error with a message for the operator */
async function listen(app: FastifyInstance, { setting, port, host }: Port): Promise<void> {
  try {
    await app.listen({ port, host })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new Error(`${setting} ${port} is already in use`, { cause: error })
    if (code === 'EACCES')
      throw new Error(`${setting} ${port} may not be used by this user`, { cause: error })
    if (code === 'ENOTFOUND' || code === 'EADDRNOTAVAIL')
      throw new Error(`HOST ${host} is not an address of this machine`, { cause: error })
    throw error
  }
}
