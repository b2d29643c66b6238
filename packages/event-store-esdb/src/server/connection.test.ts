import { expect, it, vi } from 'vitest'
import { connect, EventStoreUrlRefused, hostsOf } from './connection.ts'

it.each([
  'esdb://localhost:2113?tls=false',
  'esdb://localhost:2113/?tls=false',
  'esdb://localhost',
  'esdb://admin:changeit@a:2113,b:2113,c:2113?nodePreference=leader&keepAliveInterval=20000',
  'esdb+discover://admin:changeit@cluster.example:2113',
])('accepts %s without a warning', url => {
  const warn = vi.spyOn(console, 'warn')
  expect(() => connect(url, 'appends')).not.toThrow()
  expect(warn).not.toHaveBeenCalled()
  warn.mockRestore()
})

it.each([
  ['localhost:2113', 'is not of the form esdb://'],
  ['http://localhost:2113', 'is not of the form esdb://'],
  ['esdb://', 'is not of the form esdb://'],
  ['esdb://localhost:port', 'cannot be used: unexpected text at position 17, expected port number.'],
  ['esdb://localhost?tsl=false', 'has an unknown option tsl'],
  ['esdb://localhost?tls=no', 'cannot be used'],
  ['esdb://localhost?throwOnAppendFailure=false', 'throwOnAppendFailure, which has to be true'],
  ['esdb://localhost?nodePreference=follower', 'nodePreference, which has to be leader'],
  ['esdb://localhost?tlsVerifyCert=false', 'tlsVerifyCert, which has no effect'],
  ['esdb://localhost?keepAliveInterval=-1', 'keepAliveInterval, which has to be 10000 or more'],
  ['esdb://localhost?tlsCAFile=/not/there.pem', 'Failed to load certificate file'],
])('refuses %s with a message that names the setting', (url, reason) => {
  expect(() => connect(url, 'appends')).toThrow(EventStoreUrlRefused)
  expect(() => connect(url, 'appends')).toThrow(/^EVENT_STORE_URL /)
  expect(() => connect(url, 'appends')).toThrow(reason)
})

it('returns the servers without the password', () => {
  expect(hostsOf('esdb://admin:sesame@a:2113,b:2113?tls=false')).toBe('a:2113,b:2113')
})
