import { administrator } from '@gantry/service-kit/testing'
import { expect, test } from 'vitest'
import { hostIdentity, PASSWORD } from '../testing/identity-host.ts'
import { argon2idPasswords } from './password.ts'

const ROUNDS = 7

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

test('a refused login takes the same time, whoever it names and whatever is wrong with it', async () => {
  const identity = await hostIdentity()
  const make = async (username: string, fields: object = {}) => {
    const body = { username, password: PASSWORD, ...fields }
    expect((await identity.as(administrator).post('/users', { body })).status).toBe(201)
  }
  await make('inactive', { status: 'INACTIVE' })
  await make('locked')
  for (let time = 0; time < 5; time++) await identity.logIn('locked', 'wrong')
  for (let round = 0; round < ROUNDS; round++) await make(`known-${round}`)

  const refused: Record<string, (round: number) => Promise<{ status: number }>> = {
    'a name that nobody has': () => identity.logIn('nobody', 'wrong'),
    'a wrong password': round => identity.logIn(`known-${round}`, 'wrong'),
    'a user who is locked, a wrong password': () => identity.logIn('locked', 'wrong'),
    'a user who is locked, the right password': () => identity.logIn('locked'),
    'a user who is inactive, the right password': () => identity.logIn('inactive'),
  }
  const took: Record<string, number[]> = {}
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, logIn] of Object.entries(refused)) {
      const ms = await timed(async () => expect((await logIn(round)).status).toBeOneOf([401, 403]))
      took[name] = [...(took[name] ?? []), ms]
    }
  }
  const hashes: number[] = []
  for (let time = 0; time < 3; time++) hashes.push(await timed(() => argon2idPasswords().hash(PASSWORD)))
  // The quickest of each: what else the machine does only adds to it. A hash left out shows as all of its time.
  const quickest = Object.values(took).map(all => Math.min(...all))
  const spread = Math.max(...quickest) - Math.min(...quickest)
  expect(spread, JSON.stringify(took)).toBeLessThan(Math.min(...hashes) / 2)
  await identity.close()
})
