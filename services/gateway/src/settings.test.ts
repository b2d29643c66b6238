import { readSettings } from '@gantry/service-kit'
import { describe, expect, test } from 'vitest'
import { gatewaySettings, serverOptions } from './settings.ts'

const read = (environment: Record<string, string>) => readSettings(gatewaySettings, environment)

describe('Settings', () => {
  test('limit logins and connections and nothing else, trust no proxy and no other origin, unless told otherwise', () => {
    expect(read({})).toEqual({
      RATE_LIMIT_PER_MINUTE: 0,
      LOGIN_LIMIT_PER_MINUTE: 20,
      CORS_ORIGINS: [],
      TRUST_PROXY: false,
      MAX_CONNECTIONS: 10_000,
      MAX_CONNECTIONS_PER_ADDRESS: 5_000,
    })
  })

  test('are lists separated by commas', () => {
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
  ])('%s=%s is refused by its name', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(new RegExp(`^${name}: must be`))
  })
})

test('A server takes so many connections, and those of proxies as of many clients', () => {
  const settings = read({
    MAX_CONNECTIONS: '200',
    MAX_CONNECTIONS_PER_ADDRESS: '20',
    TRUST_PROXY: '10.0.0.0/8',
  })
  expect(serverOptions(settings)).toEqual({
    trustProxy: ['10.0.0.0/8'],
    connections: { total: 200, perAddress: 20, proxies: ['10.0.0.0/8'] },
  })
  expect(serverOptions(read({}))).toEqual({
    trustProxy: false,
    connections: { total: 10_000, perAddress: 5_000, proxies: [] },
  })
})
