import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { z } from 'zod'

export type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Parses address ranges separated by commas, e.g. 10.0.0.0/8,fd00::/8. */
export const cidrs = z
  .string()
  .transform(value => value.split(',').map(part => part.trim()))
  .pipe(
    z.array(
      z.string().transform((value, context): Cidr => {
        try {
          return ipaddr.parseCIDR(value)
        } catch {
          context.addIssue({
            code: 'custom',
            message: `must be ranges such as 10.0.0.0/8 or fd00::/8, not "${value}"`,
          })
          return z.NEVER
        }
      }),
    ),
  )

/** The range of all IPv6 global unicast addresses that IANA has assigned; the rest of IPv6 is special or unassigned. */
const GLOBAL_UNICAST: Cidr = ipaddr.parseCIDR('2000::/3')

/** A public address by range, but served by the host of a virtual machine in Azure. */
const AZURE_HOST = '168.63.129.16'

/**
 * Returns why a webhook may not reach an address; undefined for public unicast addresses and allowed ones. IPv6 ranges
 * that embed IPv4 addresses (mapped, NAT64, 6to4, Teredo) are always refused unless allowed, since their destination
 * depends on the network.
 * @param address as the system's resolver or `net.isIP` accepts it, without brackets
 */
export function refusedAddress(address: string, allowed: readonly Cidr[]): string | undefined {
  if (!ipaddr.isValid(address)) return `${address} is not an address`
  const parsed = ipaddr.parse(address)
  if (allowed.some(cidr => cidr[0].kind() === parsed.kind() && parsed.match(cidr))) return undefined
  const range = parsed.range()
  if (range !== 'unicast') return `${address} is not a public address (${range})`
  if (parsed.kind() === 'ipv6' && !parsed.match(GLOBAL_UNICAST))
    return `${address} is not a public address (unassigned)`
  if (parsed.toString() === AZURE_HOST) return `${address} is not a public address (metadata)`
  return undefined
}

/** Names that resolve to loopback addresses (RFC 6761 §6.3). */
const LOCALHOST = /(^|\.)localhost\.?$/
const LOOPBACK = ['127.0.0.1', '::1']

/**
 * Returns why a webhook may not have a URL whose host is an address, in any notation (WHATWG URL §3.5), or localhost;
 * undefined when it may. Also undefined for another host name, whose addresses are checked at each attempt.
 */
export function refusedHost(url: string, allowed: readonly Cidr[]): string | undefined {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
  if (isIP(host)) return refusedAddress(host, allowed)
  const isRefused = LOCALHOST.test(host) && LOOPBACK.every(address => refusedAddress(address, allowed))
  return isRefused ? `${host} is not a public name (loopback)` : undefined
}
