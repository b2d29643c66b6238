import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { describe, expect, test } from 'vitest'
import { type Cidr, cidrs, refusedAddress, refusedHost } from './address.ts'

/** IANA's registries of special-purpose addresses, and other addresses that webhooks may not reach. */
const REFUSED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
  '::/128',
  '::1/128',
  // IPv4 in IPv6: compatible, mapped, translated, NAT64, 6to4, Teredo.
  '::/96',
  '::ffff:0:0/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2002::/16',
  '2001::/32',
  '100::/64',
  '2001:2::/48',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

/** Generates addresses of a range. */
function within(range: string): fc.Arbitrary<string> {
  const [network, bits] = ipaddr.parseCIDR(range)
  const bytes = network.toByteArray()
  return fc.uint8Array({ minLength: bytes.length, maxLength: bytes.length }).map(random => {
    const mixed = bytes.map((byte, index) => {
      const fixed = Math.min(8, Math.max(0, bits - index * 8))
      const mask = (0xff << (8 - fixed)) & 0xff
      return (byte & mask) | ((random[index] ?? 0) & ~mask & 0xff)
    })
    return ipaddr.fromByteArray(mixed).toString()
  })
}

const inside = (address: string, ranges: readonly string[]) => {
  const parsed = ipaddr.parse(address)
  return ranges
    .map(range => ipaddr.parseCIDR(range))
    .some(cidr => cidr[0].kind() === parsed.kind() && parsed.match(cidr))
}

describe('an address', () => {
  test.for(REFUSED)('in %s is refused', range => {
    const property = fc.property(within(range), address => refusedAddress(address, []) !== undefined)
    fc.assert(property, { numRuns: 20 })
  })

  test('of IPv4 is refused exactly in these ranges and those of a few relays', () => {
    const relays = ['192.31.196.0/24', '192.52.193.0/24', '192.175.48.0/24']
    fc.assert(
      fc.property(within('0.0.0.0/0'), address => {
        const refused = refusedAddress(address, []) !== undefined
        expect(refused).toBe(inside(address, [...REFUSED, ...relays]))
      }),
      { numRuns: 500 },
    )
  })

  test('of IPv6 is refused unless it is global unicast', () => {
    fc.assert(
      fc.property(within('::/0'), address => {
        if (!inside(address, ['2000::/3'])) expect(refusedAddress(address, [])).toBeDefined()
      }),
      { numRuns: 500 },
    )
  })

  test('that is public is not refused', () => {
    for (const address of [
      '1.1.1.1',
      '93.184.215.14',
      '172.32.0.1',
      '2606:4700::1111',
      '2a00:1450:4001::200e',
    ])
      expect(refusedAddress(address, [])).toBeUndefined()
  })

  test('of the metadata service of a cloud, or an invalid one, is refused', () => {
    for (const address of ['169.254.169.254', 'fd00:ec2::254', '192.0.0.192', '::ffff:169.254.169.254'])
      expect(refusedAddress(address, [])).toContain(address)
    for (const text of ['', 'example.com', '1.2.3.4.5', 'fe80::1%eth0'])
      expect(refusedAddress(text, [])).toBeDefined()
  })
})

describe('an allowed range', () => {
  const allowed = (...ranges: string[]) => cidrs.parse(ranges.join(', ')) as Cidr[]

  test('allows exactly its addresses', () => {
    fc.assert(
      fc.property(within('10.0.0.0/8'), address => {
        const refused = refusedAddress(address, allowed('10.1.0.0/16')) !== undefined
        expect(refused).toBe(!inside(address, ['10.1.0.0/16']))
      }),
    )
  })
  test('does not allow the same addresses embedded in IPv6', () => {
    expect(refusedAddress('::ffff:127.0.0.1', allowed('127.0.0.0/8'))).toBeDefined()
    expect(refusedAddress('::ffff:127.0.0.1', allowed('::ffff:0:0/96'))).toBeUndefined()
  })
  test('may be one address', () => {
    expect(refusedAddress('127.0.0.1', allowed('127.0.0.1/32', 'fd00::/8'))).toBeUndefined()
    expect(refusedAddress('fd12::1', allowed('127.0.0.1/32', 'fd00::/8'))).toBeUndefined()
  })
  test.for(['10.0.0.0', '10.0.0.0/33', 'localhost/8', '10.0.0.0/8,', 'fd00::/129', '10.0.0.0/-1'])(
    'with the value "%s" is reported as invalid',
    text => {
      const { error } = cidrs.safeParse(text)
      expect(error?.issues[0]?.message).toMatch(/^must be ranges such as 10\.0\.0\.0\/8 or fd00::\/8, not "/)
    },
  )
})

describe('a URL whose host is an address or localhost', () => {
  test.for([
    ['http://10.0.0.1/', '10.0.0.1 is not a public address (private)'],
    ['https://127.0.0.1:8443/hook', '127.0.0.1 is not a public address (loopback)'],
    ['http://169.254.169.254/latest', '169.254.169.254 is not a public address (linkLocal)'],
    ['http://0x7f.1/', '127.0.0.1 is not a public address (loopback)'],
    ['http://017700000001/', '127.0.0.1 is not a public address (loopback)'],
    ['http://2130706433/', '127.0.0.1 is not a public address (loopback)'],
    ['http://127.0.0.1./', '127.0.0.1 is not a public address (loopback)'],
    ['http://１２７.0.0.1/', '127.0.0.1 is not a public address (loopback)'],
    ['http://[::1]:9000/', '::1 is not a public address (loopback)'],
    ['http://[::ffff:127.0.0.1]/', '::ffff:7f00:1 is not a public address (ipv4Mapped)'],
    ['http://[64:ff9b::7f00:1]/', '64:ff9b::7f00:1 is not a public address (rfc6052)'],
    ['http://[fe80::1]/', 'fe80::1 is not a public address (linkLocal)'],
    ['http://LOCALHOST:9000/', 'localhost is not a public name (loopback)'],
    ['http://hook.localhost./', 'hook.localhost. is not a public name (loopback)'],
  ] as const)('is refused for %s', ([url, reason]) => {
    expect(refusedHost(url, [])).toBe(reason)
  })

  test('is not refused when the address is allowed', () => {
    for (const url of ['http://10.1.2.3/', 'http://0xa010203/', 'http://[fd00::1]/']) {
      expect(refusedHost(url, cidrs.parse('10.1.0.0/16,fd00::/8'))).toBeUndefined()
      expect(refusedHost(url, cidrs.parse('10.2.0.0/16,fd12::/16'))).toBeDefined()
    }
  })

  test('is not refused for localhost when a loopback address is allowed', () => {
    for (const ranges of ['127.0.0.0/8', '10.0.0.0/8,::1/128'])
      expect(refusedHost('http://localhost/', cidrs.parse(ranges))).toBeUndefined()
  })

  test.for([
    'https://93.184.215.14/',
    'https://[2606:4700::1111]/',
    'http://localhost.example.com/',
    'http://127.0.0.1.example.com/',
    'http://10.0.0.example/',
  ])('is not refused for %s, which is public or has a name', url => {
    expect(refusedHost(url, [])).toBeUndefined()
  })
})
