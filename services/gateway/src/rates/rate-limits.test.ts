import { changePassword, listApis, login } from '@gantry/contracts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { bearer, type EdgeHost, type EdgeOptions, hostEdge } from '../testing/edge-host.ts'

const hosts: EdgeHost[] = []
const host = async (settings: Record<string, string>, options: EdgeOptions = {}) => {
  const started = await hostEdge({ ...options, settings })
  hosts.push(started)
  return started
}
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T09:30:00.000Z') })
})
afterEach(async () => {
  await Promise.all(hosts.splice(0).map(({ close }) => close()))
  vi.useRealTimers()
})

const statuses = async (count: number, call: () => Promise<{ status: number }>) => {
  const seen: number[] = []
  for (let i = 0; i < count; i++) seen.push((await call()).status)
  return seen
}

describe('Callers', () => {
  test('are limited by user, over all credentials of the user', async () => {
    const { call } = await host({ RATE_LIMIT_PER_MINUTE: '3' })
    const { headers } = await call(listApis, bearer('grace-1'))
    expect(headers).toMatchObject({
      'ratelimit-limit': '3',
      'ratelimit-remaining': '2',
      'ratelimit-reset': '60',
    })
    expect(await statuses(2, () => call(listApis, bearer('grace-2'), '192.0.2.9'))).toEqual([200, 200])

    vi.setSystemTime(Date.now() + 20_000)
    const refused = await call(listApis, bearer('grace-1'))
    expect(refused).toMatchObject({
      status: 429,
      headers: { 'retry-after': '40', 'ratelimit-limit': '3', 'ratelimit-remaining': '0' },
      body: { code: 'too-many-requests' },
    })
    expect(await call(listApis, bearer('ada-1'))).toMatchObject({ status: 200 })

    vi.setSystemTime(Date.now() + 40_000)
    expect(await call(listApis, bearer('grace-1'))).toMatchObject({ status: 200 })
  })

  test('get no headers of disabled limits', async () => {
    const { call } = await host({ RATE_LIMIT_PER_MINUTE: '0', LOGIN_LIMIT_PER_MINUTE: '0' })
    expect(await statuses(50, () => call(login))).toEqual(Array(50).fill(200))
    const { headers } = await call(listApis, bearer('grace-1'))
    expect(Object.keys(headers).filter(name => name.startsWith('ratelimit'))).toEqual([])
  })
})

describe('Failing to authenticate', () => {
  test('counts by address, and identity gets no requests over the limit', async () => {
    const { call, identity } = await host({ RATE_LIMIT_PER_MINUTE: '2' })
    expect(await statuses(2, () => call(listApis))).toEqual([401, 401])
    expect(await call(listApis, bearer('guess'))).toMatchObject({ status: 429 })
    expect(await call(listApis, bearer('guess'))).toMatchObject({
      status: 429,
      headers: { 'retry-after': '60' },
    })
    expect(identity.asked).toEqual(['guess'])
    expect(await call(listApis, {}, '192.0.2.2')).toMatchObject({ status: 401 })
  })

  test('does not limit verified credentials at the same address', async () => {
    const { call } = await host({ RATE_LIMIT_PER_MINUTE: '2' })
    expect(await call(listApis, bearer('grace-1'))).toMatchObject({ status: 200 })
    await statuses(5, () => call(listApis, bearer('guess')))
    vi.setSystemTime(Date.now() + 6_000)
    expect(await call(listApis, bearer('grace-1'))).toMatchObject({ status: 200 })
    expect(await call(listApis, bearer('ada-1'))).toMatchObject({ status: 429 })
  })

  test('counts an IPv6 network as one address', async () => {
    const { call } = await host({ RATE_LIMIT_PER_MINUTE: '2' })
    await call(listApis, {}, '2001:db8:1:2::1')
    await call(listApis, {}, '2001:db8:1:2::2')
    expect(await call(listApis, {}, '2001:db8:1:2:ffff::3')).toMatchObject({ status: 429 })
    expect(await call(listApis, {}, '2001:db8:1:3::1')).toMatchObject({ status: 401 })
  })
})

describe('Logins', () => {
  test('are limited to 20 per minute and address by default', async () => {
    const { call } = await host({})
    expect(await statuses(21, () => call(login))).toEqual([...Array(20).fill(200), 429])
    expect(await call(login, {}, '192.0.2.2')).toMatchObject({ status: 200 })
    vi.setSystemTime(Date.now() + 60_000)
    expect(await call(login)).toMatchObject({ status: 200 })
  })

  test('share their limit with changes of passwords, which check one as well', async () => {
    const { call } = await host({ LOGIN_LIMIT_PER_MINUTE: '2', RATE_LIMIT_PER_MINUTE: '0' })
    expect(await statuses(2, () => call(changePassword, bearer('grace-1')))).toEqual([200, 200])
    expect(await call(changePassword, bearer('ada-1'))).toMatchObject({ status: 429 })
    expect(await call(login)).toMatchObject({ status: 429 })
    expect(await call(listApis, bearer('grace-1'))).toMatchObject({ status: 200 })
  })

  test('count by the address that a trusted proxy reports; other proxies are not trusted', async () => {
    const settings = { LOGIN_LIMIT_PER_MINUTE: '1', TRUST_PROXY: '192.0.2.0/28' }
    const { call } = await host(settings)
    const through = (client: string, proxy = '192.0.2.1') => call(login, { 'x-forwarded-for': client }, proxy)
    expect(await through('203.0.113.1')).toMatchObject({ status: 200 })
    expect(await through('203.0.113.2')).toMatchObject({ status: 200 })
    expect(await through('203.0.113.1')).toMatchObject({ status: 429 })
    expect(await through('203.0.113.3', '198.51.100.7')).toMatchObject({ status: 200 })
    expect(await through('203.0.113.4', '198.51.100.7')).toMatchObject({ status: 429 })
  })
})
