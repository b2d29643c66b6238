import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'

const POLL_MS = 10

/** Node's property of a socket with the response that is being made on it. */
type ServerSocket = Socket & { _httpMessage?: (ServerResponse & { req: IncomingMessage }) | null }

/** The connections to the servers of a process. */
export class OpenConnections {
  readonly #sockets = new Set<ServerSocket>()
  #draining = false
  #dropsUnused = false

  /** Watches the connections of a server. Those at the second address of `localhost` are known from their first request. */
  watch(app: FastifyInstance): void {
    app.server.on('connection', (socket: Socket) => {
      if (this.#dropsUnused) socket.destroy()
      else this.#add(socket)
    })
    app.addHook('onRequest', (request, reply, done) => {
      this.#add(request.raw.socket)
      if (this.#draining) closeAfter(request.raw, reply.raw)
      done()
    })
  }

  #add(socket: ServerSocket): void {
    if (this.#sockets.has(socket)) return
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
  }

  /**
   * Destroys the connections on which nothing was received, now and from now on. A server that closes would wait for their
   * first request; browsers open such connections in advance.
   */
  dropUnused(): void {
    this.#dropsUnused = true
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy()
  }

  /** From now on every response is the last one on its connection, those in progress included, and says so. */
  drain(): void {
    this.#draining = true
    for (const { _httpMessage: response } of this.#sockets) if (response) closeAfter(response.req, response)
  }

  /** Number of requests that have not been answered completely. */
  get requests(): number {
    return [...this.#sockets].filter(({ _httpMessage }) => _httpMessage).length
  }

  /** Bytes of responses that the clients have not taken yet. */
  get bufferedBytes(): number {
    let bytes = 0
    for (const socket of this.#sockets) bytes += (socket._httpMessage ?? socket).writableLength
    return bytes
  }

  /** Resolves when no request is in progress. */
  async idle(): Promise<void> {
    while (this.requests > 0) await setTimeout(POLL_MS)
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy()
  }
}

/**
 * Sends `Connection: close` with the response. If the client is still sending a body that the response does not wait for,
 * the connection stays open: the client could not read the response on a closed one.
 */
function closeAfter(request: IncomingMessage, response: ServerResponse): void {
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers
  const close = () => {
    if (!response.headersSent) response.shouldKeepAlive = false
  }
  if (request.complete || ((length ?? '0') === '0' && encoding === undefined)) close()
  else request.once('end', close)
}
