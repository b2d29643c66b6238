import { subjects } from '@gantry/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { hostIdentity } from './testing/identity-host.ts'

test('a process seals nothing for a command that has begun with another first key', async () => {
  const identity = await hostIdentity()
  onTestFinished(() => identity.close())
  const { bus } = identity.host.dependencies
  const reseal = (request: { fingerprint?: string }) =>
    bus.request(subjects.resealIdentity, { after: null, ...request }, { timeoutMs: 5_000 })
  const refused = await reseal({ fingerprint: 'another' })
  expect(refused).toMatchObject({ examined: 0, resealed: 0, next: null, key: { id: '0' } })
  const { fingerprint } = (refused as { key: { fingerprint: string } }).key
  expect(await reseal({ fingerprint })).toEqual(await reseal({}))
  expect(await reseal({ fingerprint })).not.toMatchObject({ examined: 0 })
})
