import { describe, expect, it, test } from 'vitest'
import { connectionOptions, NatsRefused, parseServers } from './settings.ts'

describe('MESSAGING_URL', () => {
  it('names a server, or several of a cluster', () => {
    expect(parseServers('nats://bus.example')).toEqual({
      addresses: ['bus.example:4222'],
      encrypted: false,
      shown: 'nats://bus.example:4222',
    })
    expect(parseServers('tls://a.example:4223, tls://b.example:4224/').addresses).toEqual([
      'a.example:4223',
      'b.example:4224',
    ])
    expect(parseServers('nats://[::1]:4222').addresses).toEqual(['[::1]:4222'])
  })

  it('can contain a user and a password, or a token, which are not shown', () => {
    expect(parseServers('nats://gantry:p%40ss@a.example,nats://b.example')).toEqual({
      addresses: ['a.example:4222', 'b.example:4222'],
      encrypted: false,
      user: 'gantry',
      password: 'p@ss',
      shown: 'nats://a.example:4222,nats://b.example:4222',
    })
    expect(parseServers('nats://s3cret@a.example')).toMatchObject({ token: 's3cret' })
  })

  it.each([
    ['', 'MESSAGING_URL is not a URL: it must look like nats://host:4222 or tls://host:4222'],
    ['bus.example', 'MESSAGING_URL is not a URL: '],
    ['nats://a.example,', 'MESSAGING_URL is not a URL: '],
    ['http://bus.example', 'MESSAGING_URL has the scheme http://: '],
    ['nats://', 'MESSAGING_URL names no host: '],
    ['nats://bus.example/stream', 'MESSAGING_URL has a part after host and port: '],
    ['nats://bus.example?tls=true', 'MESSAGING_URL has a part after host and port: '],
    ['nats://bus.example:99999', 'MESSAGING_URL is not a URL: '],
    ['nats://us%er@bus.example', 'MESSAGING_URL has a user or password with a % that is not %25: '],
  ])('is refused when it is %j', (url, message) => {
    expect(() => parseServers(url)).toThrow(NatsRefused)
    expect(() => parseServers(url)).toThrow(message)
  })
})

test('the messages name the option that the URL is from', () => {
  expect(() => parseServers('nats://bus.example:99999', '--nats')).toThrow(/^--nats is not a URL: /)
})

describe('the options of the connection', () => {
  it('take precedence over the URL', () => {
    const url = 'tls://gantry:wrong@bus.example'
    expect(connectionOptions({ url, name: 'catalog-1', credentials: { password: 'right' } })).toMatchObject({
      servers: ['bus.example:4222'],
      name: 'catalog-1',
      user: 'gantry',
      pass: 'right',
      tls: {},
    })
  })

  it('require encryption when they contain certificates', () => {
    expect(connectionOptions({ url: 'nats://bus.example' })).not.toHaveProperty('tls')
    expect(connectionOptions({ url: 'nats://bus.example', tls: { ca: 'PEM' } })).toMatchObject({
      tls: { ca: 'PEM' },
    })
  })
})
