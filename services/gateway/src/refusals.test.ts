import { createUser, listApis, requests } from '@gantry/contracts'
import { expect, onTestFinished, test, vi } from 'vitest'
import { bearer, grace, hostEdge } from './testing/edge-host.ts'

/** A gateway that knows the credential of a user without scopes. */
async function open() {
  const host = await hostEdge()
  onTestFinished(host.close)
  host.identity.principals.set('none', {
    ...grace,
    scopes: [],
    address: 'sealed',
    expiresAt: Date.now() + 60_000,
  })
  return host
}

test('a refusal of an operation of administrators is told to identity before it is answered, others are not', async () => {
  const { peers, call } = await open()
  const told: object[] = []
  const recorded = Promise.withResolvers<null>()
  peers.answer(requests.operationRefused, refused => {
    told.push(refused)
    return recorded.promise
  })
  const headers = { ...bearer('none'), 'x-request-id': 'refused-1' }
  expect((await call(listApis, headers)).status).toBe(403)
  let answered = false
  const refusal = call(createUser, headers).finally(() => {
    answered = true
  })
  const { userId: user } = grace
  const [id, time] = [expect.any(String), expect.any(String)]
  const refused = {
    id,
    time,
    user,
    tokenId: null,
    operation: 'createUser',
    path: '/users',
    requestId: 'refused-1',
  }
  await vi.waitFor(() => expect(told).toEqual([{ ...refused, address: 'sealed' }]))
  // Another request from beginning to end: the refusal had time to be answered.
  await call(listApis, headers)
  expect(answered).toBe(false)
  recorded.resolve(null)
  expect((await refusal).status).toBe(403)
  expect(told).toHaveLength(1)
})

test('a refusal that identity cannot record is answered all the same', async () => {
  const { call } = await open()
  expect((await call(createUser, bearer('none'))).status).toBe(403)
})
