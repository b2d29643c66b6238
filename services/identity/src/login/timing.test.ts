import { administrator } from '@gantry/service-kit/testing'
import { expect, test } from 'vitest'
import { argon2idPasswords } from '../password/password.ts'
import { hostIdentity, PASSWORD } from '../testing/identity-host.ts'

const ROUNDS = 40

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

test('a refused login takes the same time for all usernames and reasons', {
  timeout: 120_000,
}, async () => {
  const identity = await hostIdentity()
  const make = async (username: string, fields: object = {}) => {
    const body = { username, password: PASSWORD, ...fields }
    expect((await identity.as(administrator).post('/users', { body })).status).toBe(201)
  }
  await make('known')
  await make('inactive', { status: 'INACTIVE' })
  await make('locked')
  for (let time = 0; time < 5; time++) await identity.logIn('locked', 'wrong')

  const refused: Record<string, () => Promise<{ status: number }>> = {
    'an unknown username': () => identity.logIn('nobody', 'wrong'),
    'a wrong password': () => identity.logIn('known', 'wrong'),
    'a locked user with a wrong password': () => identity.logIn('locked', 'wrong'),
    'a locked user with the right password': () => identity.logIn('locked'),
    'an inactive user with the right password': () => identity.logIn('inactive'),
  }
  // Compares the fastest try of each, since other load on the machine only makes a try slower. More rounds remove such
  // noise, but not the difference of a step that is skipped for some.
  const quickest: Record<string, number> = {}
  const least = (name: string, ms: number) => {
    quickest[name] = Math.min(quickest[name] ?? ms, ms)
  }
  const spread = () => Math.max(...Object.values(quickest)) - Math.min(...Object.values(quickest))
  const { hash } = argon2idPasswords()
  let oneHash = Number.POSITIVE_INFINITY
  for (let round = 1; round <= ROUNDS; round++) {
    for (const [name, logIn] of Object.entries(refused))
      least(name, await timed(async () => expect((await logIn()).status).toBeOneOf([401, 403])))
    // Resets the count of wrong passwords, so that the user is not locked.
    expect((await identity.logIn('known')).status).toBe(200)
    oneHash = Math.min(oneHash, await timed(() => hash(PASSWORD)))
    if (round >= 5 && spread() < oneHash / 2) break
  }
  expect(spread(), JSON.stringify(quickest)).toBeLessThan(oneHash / 2)
  await identity.close()
})
