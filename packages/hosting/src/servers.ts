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
  /** @returns the port of the server at PORT, when all servers listen. @throws NotListening */
  listen(routes: Routes): Promise<number>
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
        return listen(app, port)
      },
      close: () => app.close(),
    }
  }
  const { connections: _, ...clients } = options.clients ?? {}
  const inner = httpServer({ ...options, clients, builtIn: { routes: ['metrics'] } })
  const app = httpServer({
    ...options,
    builtIn: {
      routes: ['health'],
      ...(second.setting === 'INTERNAL_PORT' && { internalPort: () => portOf(inner) }),
    },
  })
  return {
    async listen({ routes, inside }) {
      await app.register(routes, { prefix })
      if (inside) await inner.register(inside, { prefix })
      // The second server listens first, so that the port that the health check names already answers.
      await listen(inner, second)
      return listen(app, port)
    },
    async close() {
      await Promise.all([app.close(), inner.close()])
    },
  }
}

const portOf = (app: FastifyInstance) => (app.server.address() as { port: number } | null)?.port

/** @throws NotListening */
async function listen(app: FastifyInstance, port: Port): Promise<number> {
  try {
    await app.listen({ port: port.port, host: port.host })
    return portOf(app) ?? port.port
  } catch (error) {
    throw new NotListening(port, error as NodeJS.ErrnoException)
  }
}

/** A process cannot listen on a port. The message is for the operator. */
export class NotListening extends Error {
  readonly setting: Port['setting']
  readonly port: number
  readonly code: string | undefined

  constructor({ setting, port, host }: Port, cause: NodeJS.ErrnoException) {
    super(listenFailureOf(cause, `${setting} ${port}`, host), { cause })
    this.name = 'NotListening'
    this.setting = setting
    this.port = port
    this.code = cause.code
  }
}

function listenFailureOf({ code, message }: NodeJS.ErrnoException, port: string, host: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return `${port} is already in use`
    case 'EACCES':
      return `${port} may not be used by this user`
    case 'ENOTFOUND':
    case 'EADDRNOTAVAIL':
      return `HOST ${host} is not an address of this machine`
    default:
      return message
  }
}
