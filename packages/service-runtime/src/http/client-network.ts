import { isIPv6 } from 'node:net'

/**
 * The network that counts as one client: the /64 network of an IPv6 address, which is the usual assignment to a customer
 * (RFC 6177), or an IPv4 address, also one that is mapped to IPv6. Another text is returned unchanged.
 */
export function networkOf(address: string): string {
  const bytes = bytesOf(address)
  if (bytes.length === 4) return bytes.join('.')
  if (bytes.length === 0) return address
  return `${Buffer.from(bytes.slice(0, 8)).toString('hex')}/64`
}

/** The four bytes of an IPv4 address, or the sixteen of an IPv6 address; none if it is no address. */
export function bytesOf(address: string): number[] {
  const ipv4 = /(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address)
  if (ipv4 || !isIPv6(address)) return ipv4?.slice(1).map(Number) ?? []
  const [head = [], tail = []] = address
    .replace(/%.*/, '')
    .split('::')
    .map(part => part.split(':').filter(Boolean))
  const groups = [...head, ...Array(8 - head.length - tail.length).fill('0'), ...tail]
  return groups.map(group => Number.parseInt(group, 16)).flatMap(group => [group >> 8, group & 255])
}
