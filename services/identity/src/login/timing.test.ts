import { subjects } from '@gantry/contracts'
import { administrator } from '@gantry/service-runtime/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { hash } from '../password/hashing-thread.ts'
import { argon2idPasswords } from '../password/password.ts'
import { CHEAP, hostIdentity, PASSWORD } from '../testing/identity-host.ts'

/** The pause of a refusal, less the millisecond by which a timer may be early. */
const PAUSE_MS = 49

test('a refused login takes the time of one hash and a pause for all usernames and reasons', async () => {
  const hashed: { cost: object; endedAt: number }[] = []
  const passwords = argon2idPasswords(async hashing => {
    const { memory, passes, parallelism } = hashing.parameters
    const computed = hash(hashing)
    hashed.push({ cost: { memory, passes, parallelism }, endedAt: performance.now() })
    return computed
  }, CHEAP)
  const identity = await hostIdentity({}, dependencies => dependencies, passwords)
  onTestFinished(() => identity.close())
  for (const fields of [
    { username: 'known' },
    { username: 'inactive', status: 'INACTIVE' },
    { username: 'sso', sso: true, password: null },
    { username: 'locked' },
  ]) {
    const body = { password: PASSWORD, ...fields }
    expect((await identity.as(administrator).post('/users', { body })).status).toBe(201)
  }
  for (let time = 0; time < 5; time++) await identity.logIn('locked', 'wrong')

  for (const [username, password] of [
    ['nobody', 'wrong'],
    ['known', 'wrong'],
    ['locked', 'wrong'],
    ['locked', PASSWORD],
    ['inactive', PASSWORD],
    ['sso', 'wrong'],
  ] as const) {
    hashed.length = 0
    expect((await identity.logIn(username, password)).status, username).toBeOneOf([401, 403])
    const answeredAt = performance.now()
    expect(hashed, username).toEqual([{ cost: CHEAP, endedAt: expect.any(Number) }])
    expect(answeredAt - (hashed[0]?.endedAt ?? 0), username).toBeGreaterThanOrEqual(PAUSE_MS)
  }
})

test('a refusal does not wait for the store of keys, which only the address of a known user needs', async () => {
  const identity = await hostIdentity()
  onTestFinished(() => identity.close())
  const { bus, userKeys } = identity.host.dependencies
  const body = { username: 'known', password: PASSWORD }
  const { id: userId } = (await identity.as(administrator).post('/users', { body })).body
  const hanging = vi.spyOn(userKeys, 'get').mockReturnValue(new Promise(() => {}))
  await bus.broadcast(subjects.principalChanged, { userId, tokenId: null })
  for (let time = 0; time < 5; time++) expect((await identity.logIn('known', 'wrong')).status).toBe(401)
  expect((await identity.logIn('known')).status).toBe(401)
  expect(hanging).toHaveBeenCalled()
})
