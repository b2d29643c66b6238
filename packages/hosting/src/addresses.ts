import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** All addresses of a host name. @throws Error when it cannot be resolved */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** As the system resolves it. */
export const systemResolve: Resolve = async hostname =>
  (await lookup(hostname, { all: true })).map(({ address }) => address)

/** Whether what is behind an origin can change: an address stays itself, and a certificate is for a name. */
export function isFollowed(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'http:' && isIP(hostname.replace(/^\[|\]$/g, '')) === 0
}

/**
 * The processes behind an http origin with a host name: every address of it, as a headless Service of Kubernetes or a
 * scaled service of Compose has them.
 * @returns origins, such as http://10.0.0.7:8080 for http://catalog:8080
 * @throws Error when the name cannot be resolved
 */
export async function originsBehind(origin: string, resolve: Resolve): Promise<readonly string[]> {
  const { hostname, port } = new URL(origin)
  const hosts = (await resolve(hostname)).map(address => (isIP(address) === 6 ? `[${address}]` : address))
  return [...new Set(hosts)].map(host => new URL(`http://${host}:${port || 80}`).origin)
}
