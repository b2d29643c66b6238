import { setTimeout } from 'node:timers/promises'
import { httpServer, OpenConnections, type ServerOptions } from '@gantry/service-runtime'
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
  /** Announces on every connection that the next response is the last one. */
  drain(): void
  /**
   * Stops listening and resolves when all requests in progress are answered. Connections whose requests take longer than
   * `timeoutMs` are destroyed. Default: no limit.
   */
  close(timeoutMs?: number): Promise<void>
}

/**
 * The server of a process at PORT, and a second one with /metrics and internal requests if the process has a port for them.
 * The health check names the port for internal requests.
 */
export function processServers(options: ServerOptions, port: Port, second: Port | undefined): Servers {
  const prefix = options.basePath
  const open = new OpenConnections()
  const clients = { ...options.clients, open }
  const ending = (...apps: FastifyInstance[]) => ({
    drain: () => open.drain(),
    close: (timeoutMs?: number) => close(apps, { open, log: options.log, timeoutMs }),
  })
  if (!second) {
    const app = httpServer({ ...options, clients })
    return {
      async listen({ routes }) {
        await app.register(routes, { prefix })
        return listen(app, port)
      },
      ...ending(app),
    }
  }
  const { connections: _, ...unlimited } = clients
  const inner = httpServer({ ...options, clients: unlimited, builtIn: { routes: ['metrics'] } })
  const app = httpServer({
    ...options,
    clients,
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
    ...ending(app, inner),
  }
}

interface Closing {
  open: OpenConnections
  log: ServerOptions['log']
  timeoutMs: number | undefined
}

async function close(apps: readonly FastifyInstance[], { open, log, timeoutMs }: Closing): Promise<void> {
  open.drain()
  open.dropUnused()
  const ended = new AbortController()
  const destroyLate = async (ms: number) => {
    await setTimeout(ms, undefined, { signal: ended.signal })
    log.warn(
      { requests: open.requests },
      'closes connections whose requests have not ended within SHUTDOWN_TIMEOUT',
    )
    open.destroy()
    for (const { server } of apps) server.closeAllConnections()
  }
  if (timeoutMs !== undefined)
    destroyLate(timeoutMs).catch(err => {
      if (err.name !== 'AbortError') log.error({ err }, 'connections could not be closed')
    })
  try {
    // A server on localhost also listens on a second address, whose requests `app.close` does not wait for.
    await Promise.all([...apps.map(app => app.close()), open.idle()])
  } finally {
    ended.abort()
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
