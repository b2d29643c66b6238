import { requests } from '@gantry/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { hostIdentity } from './testing/identity-host.ts'

test('a process seals nothing for a command that has begun with another first key', async () => {
  const identity = await hostIdentity()
  onTestFinished(() => identity.close())
  const { peers } = identity.host.dependencies.process
  const reseal = (request: { fingerprint?: string }) =>
    peers.ask(requests.reseal('identity'), { after: null, ...request })
  const refused = await reseal({ fingerprint: 'another' })
  expect(refused).toMatchObject({ examined: 0, resealed: 0, next: null, key: { id: '0' } })
  const { fingerprint } = refused.key
  expect(await reseal({ fingerprint })).toEqual(await reseal({}))
  expect(await reseal({ fingerprint })).not.toMatchObject({ examined: 0 })
})
