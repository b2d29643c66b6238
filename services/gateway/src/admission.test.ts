import { listApis, login, subjects } from '@gantry/contracts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { bearer, type EdgeHost, grace, hostEdge } from './testing/edge-host.ts'

let host: EdgeHost
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T09:30:00.000Z') })
  host = await hostEdge()
})
afterEach(async () => {
  await host.close()
  vi.useRealTimers()
})
const later = (seconds: number) => vi.setSystemTime(Date.now() + seconds * 1000)

describe('A request', () => {
  test('with a malformed Authorization is refused without a request to identity', async () => {
    for (const authorization of [
      ...['Basic Z3JhY2U6cHc=', 'Bearer', 'Bearer one two', 'Bearer "quoted"', 'grace-1', ''],
    ])
      expect(await host.call(listApis, { authorization }), authorization).toMatchObject({
        status: 401,
        body: { code: 'unauthenticated' },
      })
    expect(host.identity.asked).toEqual([])
  })

  test('names the scheme in any case', async () => {
    for (const authorization of ['Bearer grace-1', 'bearer grace-1', 'BEARER  grace-1 '])
      expect(await host.call(listApis, { authorization }), authorization).toMatchObject({
        status: 200,
        body: { caller: 'grace' },
      })
  })

  test('with a credential that identity refuses gets its reason', async () => {
    const { status, headers, body } = await host.call(listApis, bearer('stolen'))
    expect(status).toBe(401)
    expect(headers['www-authenticate']).toBe('Bearer realm="gantry", error="invalid_token"')
    expect(body).toMatchObject({ code: 'unauthenticated', detail: 'There is no such token' })
  })

  test('to a public operation needs no credentials and does not ask identity', async () => {
    expect(await host.call(login, bearer('stolen'))).toMatchObject({
      status: 200,
      body: { caller: 'anonymous' },
    })
    expect(host.identity.asked).toEqual([])
  })

  test('while identity is unavailable gets 503, unless its principal is cached', async () => {
    await host.call(listApis, bearer('grace-1'))
    host.identity.leave()
    expect(await host.call(listApis, bearer('grace-1'))).toMatchObject({ status: 200 })
    const { status, headers, body } = await host.call(listApis, bearer('ada-1'))
    expect({ status, code: body.code }).toEqual({ status: 503, code: 'unavailable' })
    expect(headers['retry-after']).toBeDefined()
  })
})

describe('A principal', () => {
  test('is requested once by simultaneous requests, and then cached for five seconds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => host.call(listApis, bearer('grace-1'))),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
    later(4.999)
    await host.call(listApis, bearer('grace-1'))
    expect(host.identity.asked).toEqual(['grace-1'])
    later(0.001)
    await host.call(listApis, bearer('grace-1'))
    expect(host.identity.asked).toEqual(['grace-1', 'grace-1'])
  })

  test('expires together with its credential', async () => {
    host.identity.principals.set('short', { ...grace, expiresAt: Date.now() + 2000 })
    later(1.999)
    expect(await host.call(listApis, bearer('short'))).toMatchObject({ status: 200 })
    later(0.001)
    expect(await host.call(listApis, bearer('short'))).toMatchObject({
      status: 401,
      body: { detail: 'The token has expired' },
    })
  })

  test('that changed is requested again at once, and no other principal is', async () => {
    for (const credential of ['grace-1', 'grace-2', 'ada-1']) await host.call(listApis, bearer(credential))
    host.identity.principals.delete('grace-1')
    await host.bus.broadcast(subjects.principalChanged, { userId: grace.userId })
    expect(await host.call(listApis, bearer('grace-1'))).toMatchObject({ status: 401 })
    expect(await host.call(listApis, bearer('grace-2'))).toMatchObject({ status: 200 })
    expect(await host.call(listApis, bearer('ada-1'))).toMatchObject({ status: 200 })
    expect(host.identity.asked).toEqual(['grace-1', 'grace-2', 'ada-1', 'grace-1', 'grace-2'])
  })

  test('whose access token was revoked keeps other credentials', async () => {
    for (const credential of ['grace-1', 'grace-2']) await host.call(listApis, bearer(credential))
    const tokenId = '44444444-4444-4444-8444-444444444444'
    await host.bus.broadcast(subjects.principalChanged, { userId: grace.userId, tokenId })
    for (const credential of ['grace-1', 'grace-2']) await host.call(listApis, bearer(credential))
    expect(host.identity.asked).toEqual(['grace-1', 'grace-2', 'grace-2'])
  })

  test('of every credential is requested again when the signing keys changed', async () => {
    for (const credential of ['grace-1', 'ada-1']) await host.call(listApis, bearer(credential))
    host.identity.principals.clear()
    await host.bus.broadcast(subjects.keysChanged, { kid: 'next' })
    for (const credential of ['grace-1', 'ada-1'])
      expect(await host.call(listApis, bearer(credential))).toMatchObject({ status: 401 })
  })

  test('is not cached when it changed during the request for it', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    host.identity.held = promise
    const early = host.call(listApis, bearer('grace-1'))
    await vi.waitFor(() => expect(host.identity.asked).toEqual(['grace-1']))
    host.identity.principals.delete('grace-1')
    await host.bus.broadcast(subjects.principalChanged, { userId: grace.userId })

    const late = host.call(listApis, bearer('grace-1'))
    await vi.waitFor(() => expect(host.identity.asked).toEqual(['grace-1', 'grace-1']))
    resolve()
    expect(await early).toMatchObject({ status: 200 })
    expect(await late).toMatchObject({ status: 401 })
    expect(await host.call(listApis, bearer('grace-1'))).toMatchObject({ status: 401 })
  })
})
