import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

/** All addresses of a host name. @throws Error when it cannot be resolved */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Resolves a host name with the resolver of the operating system. */
export const systemResolve: Resolve = async hostname =>
  (await lookup(hostname, { all: true })).map(({ address }) => address)

/**
 * Whether an origin is resolved to addresses. An origin with an IP address is not, nor is an https origin, because its
 * certificate is for the host name.
 */
export function isResolved(origin: string): boolean {
  const { protocol, hostname } = new URL(origin)
  return protocol === 'http:' && isIP(hostname.replace(/^\[|\]$/g, '')) === 0
}

/** A host of a URL: a host name or an IPv4 address as it is, an IPv6 address in brackets. */
export const hostInUrl = (host: string): string => (isIP(host) === 6 ? `[${host}]` : host)

/**
 * The origins of all addresses of an http origin with a host name. A headless Service of Kubernetes and a scaled service of
 * Compose have one address per replica.
 * @returns origins, such as http://10.0.0.7:8080 for http://catalog:8080
 * @throws Error when the name cannot be resolved
 */
export async function originsBehind(origin: string, resolve: Resolve): Promise<readonly string[]> {
  const { hostname, port } = new URL(origin)
  const hosts = (await resolve(hostname)).map(hostInUrl)
  return [...new Set(hosts)].map(host => new URL(`http://${host}:${port || 80}`).origin)
}
