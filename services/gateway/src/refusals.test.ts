import { createUser, listApis, requests } from '@gantry/contracts'
import { expect, onTestFinished, test } from 'vitest'
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
  peers.answer(requests.operationRefused, async refused => {
    told.push(refused)
    return null
  })
  const headers = { ...bearer('none'), 'x-request-id': 'refused-1' }
  for (const operation of [listApis, createUser]) expect((await call(operation, headers)).status).toBe(403)
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
  expect(told).toEqual([{ ...refused, address: 'sealed' }])
})

test('a refusal that identity cannot record is answered all the same', async () => {
  const { call } = await open()
  expect((await call(createUser, bearer('none'))).status).toBe(403)
})
