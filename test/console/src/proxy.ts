import { connect, createServer, type Server, type Socket } from 'node:net'
import { url } from './browser.ts'

/** A TCP proxy between the browser and the service, with faults that a test causes. */
export interface Proxy {
  /** Address of the service through the proxy. */
  url: string
  /** Closes all connections and refuses new ones until `mend` is called. */
  cut(): void
  /** Closes each connection when it has carried this many bytes to the browser. */
  cutAfter(bytes: number): void
  /** Passes on at most this many bytes of each response until `mend` is called. */
  holdAfter(bytes: number): void
  mend(): void
  close(): Promise<void>
}

/** Starts a proxy to the service. */
export async function startProxy(): Promise<Proxy> {
  const service = new URL(url)
  const sockets = new Set<Socket>()
  let isCut = false
  let cutAt = Number.POSITIVE_INFINITY
  let holdAt = Number.POSITIVE_INFINITY
  const held = new Set<Socket>()

  const server: Server = createServer(browser => {
    if (isCut) return browser.destroy()
    const upstream = connect(Number(service.port), service.hostname)
    let carried = 0
    for (const socket of [browser, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        browser.destroy()
        upstream.destroy()
      })
    }
    browser.pipe(upstream)
    upstream.on('data', data => {
      carried += data.length
      if (carried > cutAt) return browser.destroy()
      browser.write(data)
      if (carried <= holdAt) return
      upstream.pause()
      held.add(upstream)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')

  const closeAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
    cut() {
      isCut = true
      closeAll()
    },
    cutAfter(bytes) {
      cutAt = bytes
    },
    holdAfter(bytes) {
      holdAt = bytes
    },
    mend() {
      isCut = false
      cutAt = holdAt = Number.POSITIVE_INFINITY
      for (const socket of held) socket.resume()
      held.clear()
    },
    close: () => {
      closeAll()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}
