import { derivedPrincipalKey, readSettings } from '@gantry/service-runtime'
import { describe, expect, test } from 'vitest'
import { gatewayProcessSettings, gatewaySettings, principalKey, serverOptions } from './settings.ts'

const read = (environment: Record<string, string>) => readSettings(gatewaySettings, environment)

describe('Settings', () => {
  test('of several values are separated by commas', () => {
    const given = {
      CORS_ORIGINS: 'https://a.example.com, http://localhost:3000',
      TRUST_PROXY: '10.0.0.0/8, ::1',
    }
    expect(read(given)).toMatchObject({
      CORS_ORIGINS: ['https://a.example.com', 'http://localhost:3000'],
      TRUST_PROXY: ['10.0.0.0/8', '::1'],
    })
    expect(read({ TRUST_PROXY: 'false' }).TRUST_PROXY).toBe(false)
  })

  test.each([
    ['RATE_LIMIT_PER_MINUTE', '-1'],
    ['LOGIN_LIMIT_PER_MINUTE', 'many'],
    ['CORS_ORIGINS', 'portal.example.com'],
    ['CORS_ORIGINS', 'https://portal.example.com/path'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', '1'],
    ['TRUST_PROXY', '10.0.0.0/33'],
  ])('%s=%s is refused with the name of the setting', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(new RegExp(`^${name}: must be`))
  })
})

test('A server limits connections in total and per address, except those of trusted proxies', () => {
  const settings = read({ MAX_CONNECTIONS: '201', TRUST_PROXY: '10.0.0.0/8' })
  expect(serverOptions(settings)).toEqual({
    clients: {
      trustProxy: ['10.0.0.0/8'],
      connections: { total: 201, perAddress: 101, proxies: ['10.0.0.0/8'] },
    },
  })
  expect(serverOptions(read({}))).toEqual({
    clients: {
      trustProxy: false,
      connections: { total: 10_000, perAddress: 5_000, proxies: [] },
    },
  })
})

const others = {
  MESSAGING_URL: 'nats://bus:4222',
  CATALOG_URL: 'http://catalog:8080',
  IDENTITY_URL: 'http://identity:8080',
  MEDIA_URL: 'http://media:8080',
  NOTIFIER_URL: 'http://notifier:8080',
}

describe('The key that signs principals', () => {
  const [one, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const keyOf = (keys: Record<string, string>) =>
    principalKey(readSettings(gatewayProcessSettings, { ...others, ...keys }))

  test('is PRINCIPAL_KEY, or derived from ENCRYPTION_KEY', () => {
    const both = { PRINCIPAL_KEY: one.toString('hex'), ENCRYPTION_KEY: other.toString('base64') }
    expect(keyOf(both)).toEqual(one)
    expect(keyOf({ PRINCIPAL_KEY: one.toString('base64') })).toEqual(one)
    expect(keyOf({ ENCRYPTION_KEY: other.toString('base64') })).toEqual(derivedPrincipalKey(other))
  })

  test.each([
    ['neither', {}, /^PRINCIPAL_KEY: must be set, and be the same for all services and the gateway/],
    [
      'a short one',
      { PRINCIPAL_KEY: 'short' },
      /^PRINCIPAL_KEY: must be 32 bytes, in base64 or hexadecimal$/,
    ],
    [
      'neither, and no service',
      { CATALOG_URL: '' },
      /^CATALOG_URL: must be set.*\nPRINCIPAL_KEY: must be set/,
    ],
  ])('is refused: %s', (_, keys, lines) => {
    expect(() => keyOf(keys as Record<string, string>)).toThrow(lines)
  })
})
