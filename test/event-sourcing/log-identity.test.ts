import { logIdentity, renewLogIdentity } from '@gantry/event-sourcing'
import { inMemoryLog } from '@gantry/event-sourcing/testing'
import { expect, test } from 'vitest'

test('processes that start at the same moment agree on the identity of the log, which another one replaces', async () => {
  const log = inMemoryLog().connect()
  const [one, other] = await Promise.all([logIdentity(log), logIdentity(log)])
  expect(other).toBe(one)
  expect(await logIdentity(log)).toBe(one)
  await renewLogIdentity(log)
  expect(await logIdentity(log)).not.toBe(one)
})
