import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { createServer } from 'node:tls'
import type { Certificates } from './certificates.ts'

/** A TLS proxy in front of a local server without TLS. @returns its port, and a function that stops it */
export async function tlsFront(port: number, { certFile, keyFile }: Certificates) {
  const open = new Set<Socket>()
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)])
  const server = createServer({ cert, key, ALPNProtocols: ['h2', 'http/1.1'] }, outside => {
    const inside = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [outside, inside],
      [inside, outside],
    ] as const) {
      open.add(one)
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
  })
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close()
      for (const socket of open) socket.destroy()
      await once(server, 'close')
    },
  }
}
